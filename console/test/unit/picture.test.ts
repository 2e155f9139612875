import { expect, test } from "vitest";
import { layoutOf, pathThrough } from "../../drawing/layout.ts";
import { pictureOf } from "../../picture/picture.ts";

const agent = (name: string) => ({
  provider: "AssistantAgent",
  config: { name, description: `${name} helps.` },
});

const team = (provider: string, names: readonly string[], config = {}) => ({
  provider,
  config: { participants: names.map(agent), ...config },
});

test("a round robin is a ring in the order of its participants", () => {
  const picture = pictureOf(team("RoundRobinGroupChat", ["a", "b", "c"]));
  expect(picture.kind).toBe("ring");
  expect(picture.nodes.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  const names = new Map(picture.nodes.map(({ id, name }) => [id, name]));
  const turns = picture.edges.map(({ from, to }) => `${names.get(from)}>${names.get(to)}`);
  expect(turns).toEqual(["a>b", "b>c", "c>a"]);
});

test.each([
  ["RoundRobinGroupChat", ["a", "b", "c", "d"]],
  ["SelectorGroupChat", ["a", "b", "c"]],
  ["RoundRobinGroupChat", Array.from({ length: 20 }, (_, index) => `agent${index}`)],
])("the nodes of a %s of %j are inside of the picture and do not overlap", (provider, names) => {
  const picture = pictureOf(team(provider, names));
  const { width, height, places, routes } = layoutOf(picture);
  const nodes = [...places.values()];
  expect(nodes).toHaveLength(picture.nodes.length);
  expect([...routes.keys()].toSorted()).toEqual(picture.edges.map(({ id }) => id).toSorted());
  for (const [index, one] of nodes.entries()) {
    expect(one.x - one.width / 2).toBeGreaterThanOrEqual(0);
    expect(one.x + one.width / 2).toBeLessThanOrEqual(width);
    expect(one.y - one.height / 2).toBeGreaterThanOrEqual(0);
    expect(one.y + one.height / 2).toBeLessThanOrEqual(height);
    for (const other of nodes.slice(index + 1)) {
      const besides = Math.abs(one.x - other.x) >= (one.width + other.width) / 2;
      const below = Math.abs(one.y - other.y) >= (one.height + other.height) / 2;
      expect(besides || below).toBe(true);
    }
  }
});

test("a line goes from its first point to its last", () => {
  expect(pathThrough([])).toBe("");
  const [a, b, c] = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 20 },
  ];
  expect(pathThrough([a, b])).toBe("M0.0 0.0L10.0 0.0");
  expect(pathThrough([a, b, c])).toBe("M0.0 0.0Q10.0 0.0 10.0 20.0");
});
