import type { RunInfo } from "#contract/run.ts";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { assistant, roundRobin } from "../../scenarios/components.ts";
import { run, type Story } from "./story.ts";

const TEXT = "Tea is made with leaves.";

const RULES: readonly RuleInput[] = [
  {
    name: "loads the skill",
    match: { text: "Make tea." },
    reply: { tool_calls: [{ name: "load_skill", arguments: { name: "tea" } }] },
  },
  { name: "has loaded the skill", match: { text: TEXT }, reply: { content: "The tea is made." } },
];

const files = (version: number): { files: Record<string, string> } => ({
  files: {
    "SKILL.md": `---\nname: tea\ndescription: Makes tea.\n---\n${TEXT}\n`,
    "water.txt": `version ${version}`,
  },
});

/** Versions are there once each, whole, and an agent loads the newest. */
export const SKILLS: Story = {
  name: "a skill with two versions",
  rules: RULES,
  async happens(session) {
    await session.put("/skills/tea", files(1));
    await session.put("/skills/tea", files(2));
    await session.put("/skills/tea", files(2));
    const { versions } = await session.get<{ versions: { version: number }[] }>(
      "/skills/tea/versions",
    );
    const numbers = versions.map(({ version }) => version).join();
    if (numbers !== "2,1") throw new Error(`the versions are ${numbers}`);
    const agent = assistant({ model: session.options.fake.url }, "cook", { skills: ["tea"] });
    await session.post("/teams", { id: "kitchen", component: roundRobin([agent], 1) });
    const { id } = await run(session, "kitchen", "Make tea.");
    const { notes = [] } = await session.get<RunInfo>(`/teams/kitchen/runs/${id}`);
    if (notes.length > 0) throw new Error(`the run has notes: ${JSON.stringify(notes)}`);
    await session.delete("/skills/tea");
    await session.untilGone("/skills/tea");
  },
};
