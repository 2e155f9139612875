import { expect, test } from "vitest";
import { galleryIn } from "../../teams/gallery.ts";

const TEAM = { provider: "RoundRobinGroupChat", label: "Writers", config: {} };
const AGENT = { provider: "AssistantAgent", config: { name: "clerk" } };

test("a gallery of AutoGen Studio has its teams and agents, as a file and as a row of its database", () => {
  const gallery = { name: "Default", components: { teams: [TEAM], agents: [AGENT], models: [] } };
  const items = [
    { name: "Writers", component: TEAM },
    { name: "clerk", component: AGENT },
  ];
  expect(galleryIn(JSON.stringify(gallery))).toEqual(items);
  expect(galleryIn(JSON.stringify({ id: 1, config: gallery }))).toEqual(items);
});

test("a component is not a gallery, and neither is a text that is not JSON", () => {
  expect(galleryIn(JSON.stringify(TEAM))).toBeUndefined();
  expect(galleryIn("{")).toBeUndefined();
  expect(galleryIn("null")).toBeUndefined();
});
