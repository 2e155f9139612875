import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSurface, RECORDED, type Surface } from "./surface.ts";

test("the recorded operations, schemas, exports and tables are unchanged", async () => {
  const recorded = JSON.parse(readFileSync(RECORDED, "utf8")) as Surface;
  const surface = await readSurface();
  // Whatever is new is allowed; it is recorded when it is released.
  const { operations, components, ...exact } = recorded;
  expect(surface).toMatchObject({
    ...exact,
    operations: atLeast(operations),
    components: atLeast(components),
  });
});

test("a new entry is not a change, and a missing one is", () => {
  const recorded = { type: "object", required: ["id"], properties: { id: { enum: ["a", "b"] } } };
  const { properties } = recorded;
  const more = { ...recorded, required: ["id", "name"], properties: { ...properties, name: {} } };
  expect(more).toEqual(atLeast(recorded));
  expect({ ...more, properties: { id: { enum: ["a", "b", "c"] } } }).toEqual(atLeast(recorded));
  expect({ ...more, properties: { id: { enum: ["a"] } } }).not.toEqual(atLeast(recorded));
  expect({ ...more, properties: { name: {} } }).not.toEqual(atLeast(recorded));
  expect({ ...more, type: "string" }).not.toEqual(atLeast(recorded));
});

/** Matches JSON that has what was recorded, and maybe more fields in objects and items in lists. */
function atLeast(recorded: unknown): unknown {
  if (Array.isArray(recorded)) return expect.arrayContaining(recorded.map(atLeast));
  if (typeof recorded !== "object" || recorded === null) return recorded;
  const fields = Object.entries(recorded).map(([name, held]) => [name, atLeast(held)]);
  return expect.objectContaining(Object.fromEntries(fields));
}
