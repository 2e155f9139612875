import { expect, test } from "vitest";
import { AssistantAgent, type Json, type JsonObject, McpWorkbench, Skill } from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { outcome, RecordingHost } from "../../core/support/recording-host.ts";
import { rawServer } from "./support/raw-server.ts";

const MAIN = "---\nname: tea\ndescription: Makes tea.\nallowed-tools: boil\n---\nBoil water.\n";

const CONTENTS: Record<string, string> = {
  "skill://tea/SKILL.md": MAIN,
  "skill://tea/references/leaves.md": "Green or black.",
  "skill://coffee": "Grind the beans.",
};

const RESOURCES: JsonObject[] = [
  { uri: "skill://tea/SKILL.md", name: "tea" },
  { uri: "skill://tea/references/leaves.md", name: "leaves", size: 15 },
  { uri: "skill://tea/../../up", name: "up" },
  { uri: "skill://coffee", name: "coffee", description: "Makes coffee." },
  { uri: "skill://Not A Name/SKILL.md", name: "bad" },
  { uri: "note://1", name: "a note" },
];

function startServer() {
  return rawServer((method, { uri }): Json | undefined => {
    if (method === "tools/list") {
      return {
        tools: [
          { name: "boil", inputSchema: { type: "object" } },
          { name: "spill", inputSchema: { type: "object" } },
        ],
      };
    }
    if (method === "resources/list") return { resources: RESOURCES };
    const address = typeof uri === "string" ? uri : "";
    const text = CONTENTS[address];
    if (method === "resources/read" && text !== undefined)
      return { contents: [{ uri: address, text }] };
    return undefined;
  });
}

const urlOf = ({ port }: { port: number }): string => `http://127.0.0.1:${port}/mcp`;

const called = (name: string, args: object) => [
  { id: "call", name, arguments: JSON.stringify(args) },
];

async function answered(
  url: string,
  replies: readonly ScriptedReply[],
  skills: (string | Skill)[] = [],
) {
  const model = new ScriptedChatCompletionClient(replies);
  const workbench = new McpWorkbench({
    serverParams: { type: "StreamableHttpServerParams", url },
  });
  const agent = new AssistantAgent({ name: "cook", modelClient: model, workbench, skills });
  const host = new RecordingHost();
  try {
    await outcome(agent.onMessagesStream([], host.attempt()));
  } finally {
    await agent.close();
  }
  const texts = model.requests.map(({ messages }) => JSON.stringify(messages));
  const offered = model.requests.map(({ options }) => options.tools?.map(({ name }) => name));
  return { host, texts, offered };
}

test("an agent has the skills of the MCP servers of its workbenches", async () => {
  await using server = await startServer();
  const { texts, offered, host } = await answered(urlOf(server), [
    called("load_skill", { name: "tea" }),
    called("read_skill_file", { name: "tea", path: "references/leaves.md" }),
    called("load_skill", { name: "coffee" }),
    "Done.",
  ]);
  expect(texts[0]).toContain("- tea: Makes tea.");
  expect(texts[0]).toContain("- coffee: Makes coffee.");
  expect(texts[1]).toContain("Boil water.");
  expect(texts[1]).toContain("- references/leaves.md (15 bytes)");
  expect(texts[1]).not.toContain("up");
  expect(texts[2]).toContain("Green or black.");
  expect(texts[3]).toContain("Grind the beans.");
  const forSkills = ["load_skill", "read_skill_file", "run_skill_script"];
  expect(offered.slice(0, 2)).toEqual([
    ["boil", "spill", ...forSkills],
    ["boil", ...forSkills],
  ]);
  expect(host.notes).toEqual([]);
});

test("a skill of the agent itself is in front of one of a server", async () => {
  await using server = await startServer();
  const own = new Skill({ name: "tea", description: "Our own tea.", text: "Use our leaves." });
  const { texts } = await answered(
    urlOf(server),
    [called("load_skill", { name: "tea" }), "Done."],
    [own],
  );
  expect(texts[0]).toContain("- tea: Our own tea.");
  expect(texts[1]).toContain("Use our leaves.");
});

test("a server that does not list its resources has no skills", async () => {
  await using server = await rawServer((method) =>
    method === "tools/list" ? { tools: [] } : undefined,
  );
  const { host, texts } = await answered(urlOf(server), ["Hello."], ["tea"]);
  expect(texts[0]).not.toContain("load_skill");
  expect(host.notes.join()).toContain('skills names "tea", and there is no such skill');
});

test("an agent without the key asks no server for skills", async () => {
  await using server = await startServer();
  const model = new ScriptedChatCompletionClient(["Hello."]);
  const workbench = new McpWorkbench({
    serverParams: { type: "StreamableHttpServerParams", url: urlOf(server) },
  });
  const agent = new AssistantAgent({ name: "cook", modelClient: model, workbench });
  const host = new RecordingHost();
  await outcome(agent.onMessagesStream([], host.attempt()));
  await agent.close();
  expect([...host.records.keys()].filter((key) => key.includes("skill"))).toEqual([]);
  expect(model.requests[0]!.options.tools?.map(({ name }) => name)).toEqual(["boil", "spill"]);
});
