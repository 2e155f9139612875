import { expect, test } from "vitest";
import { galleryIn } from "../../../console/teams/gallery.ts";

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

test("a component is no gallery, and neither is what is not JSON", () => {
  expect(galleryIn(JSON.stringify(TEAM))).toBeUndefined();
  expect(galleryIn("{")).toBeUndefined();
  expect(galleryIn("null")).toBeUndefined();
});
