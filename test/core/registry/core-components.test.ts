import { describe, expect, test } from "vitest";
import { Catalog, ComponentRegistry, coreComponents } from "troupe";

const definitions = coreComponents(new Catalog());

describe("coreComponents", () => {
  test("have distinct bare class names, so that each can be an alias", () => {
    const names = definitions.map(({ provider }) => provider.split(".").at(-1));
    expect(new Set(names).size).toBe(names.length);
  });

  test("all have a JSON Schema", () => {
    const listed = new ComponentRegistry().register(...definitions).definitions();
    expect(listed.map(({ provider, config }) => [provider, config.$schema])).toEqual(
      listed.map(({ provider }) => [provider, expect.any(String)]),
    );
  });
});
