import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as troupe from "troupe";
import {
  AssistantAgent,
  ComponentRegistry,
  DiGraphBuilder,
  FunctionTool,
  MaxMessageTermination,
  McpSessionHost,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  run,
} from "troupe";
import { TestAgent } from "../support/agents.ts";

const modelClient = new ReplayChatCompletionClient(["Hi."]);
const members = [new TestAgent("ann"), new TestAgent("bob")];
const team = new RoundRobinGroupChat(members);
const builder = new DiGraphBuilder().addNode(members[0]!).addNode(members[1]!);
const graph = builder.addEdge("ann", "bob").build();
const executor = { url: "http://127.0.0.1:1" };
const key = { model: "m", apiKey: "k" };
const server = { type: "StreamableHttpServerParams", url: "https://mcp.example.com/" };
/** What hosts provide; of classes of their own, as it is in a Worker. */
const binding = new (class {
  readonly ai = { run: () => Promise.reject(new Error("no model")) };
})();
const host = new (class {
  readonly sandbox = executor;
})();
const tool = { name: "a", description: "", inputSchema: { type: "object" } };

/** What each class with options is made of; the object is its options. */
const ARGUMENTS: { [name: string]: unknown[] } = {
  A2AAgent: [{ name: "a", url: "https://a2a.example.com/" }],
  AgentTool: [members[0], {}],
  AnthropicChatCompletionClient: [key],
  AssistantAgent: [{ name: "a", modelClient }],
  AzureOpenAIChatCompletionClient: [
    { ...key, azureEndpoint: "https://azure.example.com/", apiVersion: "1", azureDeployment: "d" },
  ],
  ChatCompletionClientSampler: [modelClient, {}],
  ChromaDBVectorMemory: [{}],
  CodeExecutorAgent: [{ name: "a", codeExecutor: new troupe.SandboxCodeExecutor(executor) }],
  CollectionMemory: [{ collection: "c" }],
  ComponentRegistry: [{}],
  DiGraph: [{ nodes: {} }],
  DiskCacheStore: [{ directory: "d" }],
  FallbackChatCompletionClient: [[modelClient], {}],
  FullTextMemory: [{}],
  FunctionTool: [{ name: "f", description: "d", parameters: z.object({}), execute: () => 1 }],
  GraphFlow: [members, graph, {}],
  HeadAndTailChatCompletionContext: [{ headSize: 1, tailSize: 1 }],
  HttpTool: [
    {
      name: "h",
      host: "tools.example.com",
      port: 443,
      method: "GET",
      jsonSchema: { type: "object" },
    },
  ],
  HumanElicitor: [{}],
  InMemoryStore: [{}],
  MagenticOneGroupChat: [members, { modelClient }],
  MaxMessageTermination: [1, {}],
  McpSessionHost: [{}],
  McpWorkbench: [{ serverParams: server, host: new McpSessionHost({}) }],
  Mem0Memory: [{}],
  MessageFilterAgent: [{ name: "a", wrappedAgent: members[0], filter: { perSource: [] } }],
  NotesMemory: [{}],
  SharedStateMemory: [{}],
  TaskBoard: [{}],
  OllamaChatCompletionClient: [{ model: "m" }],
  OpenAIAgent: [{ name: "a", description: "d", instructions: "i", model: "m" }],
  OpenAIChatCompletionClient: [key],
  OpenAIEmbeddingClient: [{}],
  RedisMemory: [{}],
  RedisStore: [{}],
  ReplayChatCompletionClient: [["Hi."], {}],
  RoundRobinGroupChat: [members, {}],
  SandboxClient: [executor],
  SandboxCodeExecutor: [executor],
  SandboxScripts: [executor],
  SearchCollection: [{ collection: "c" }],
  SelectorGroupChat: [members, { modelClient }],
  Skill: [{ name: "s", description: "d", text: "t" }],
  SocietyOfMindAgent: [{ name: "a", team, modelClient }],
  SseMcpToolAdapter: [{ serverParams: { ...server, type: "SseServerParams" }, tool }],
  StaticStreamWorkbench: [[], {}],
  StaticWorkbench: [[], {}],
  StdioMcpToolAdapter: [
    { serverParams: { type: "StdioServerParams", command: "mcp" }, tool },
    host,
  ],
  StreamableHttpMcpToolAdapter: [{ serverParams: server, tool }],
  StructuredMessageFactory: [{ jsonSchema: { type: "object", properties: {} } }],
  SummaryChatCompletionContext: [{}],
  Swarm: [[new AssistantAgent({ name: "a", modelClient })], {}],
  TeamTool: [team, { name: "t", description: "d" }],
  TextMentionTermination: ["DONE", {}],
  TokenLimitedChatCompletionContext: [{ modelClient }],
  TokenUsageTermination: [{ maxTotalToken: 1 }],
  UserProxyAgent: [{ name: "a" }],
  VectorMemory: [{}],
  WindowChatCompletionContext: [{ high: 2, low: 1 }],
  WorkersAIChatCompletionClient: [{ model: "m" }, binding],
  WorkersAIEmbeddingClient: [{}, binding],
};

/** Classes that have no options. */
const WITHOUT_OPTIONS = [
  "AndTermination",
  "BaseChatAgent",
  "BaseTermination",
  "BufferedChatCompletionContext",
  "Catalog",
  "ChatCompletionCache",
  "DiGraphBuilder",
  "ExternalTermination",
  "FunctionCallTermination",
  "FunctionalTermination",
  "GroupChat",
  "HandoffTermination",
  "ItemLog",
  "ListMemory",
  "OrTermination",
  "PythonCodeExecutionTool",
  "SourceMatchTermination",
  "StaticRootsProvider",
  "StopMessageTermination",
  "TextMessageTermination",
  "TimeoutTermination",
  "TurnSignal",
  "UnboundedChatCompletionContext",
];

type AnyClass = new (...args: unknown[]) => object;

const classes = Object.entries(troupe).filter(
  (entry): entry is [string, never] =>
    typeof entry[1] === "function" &&
    /^class\b/.test(entry[1].toString()) &&
    !entry[0].endsWith("Error"),
);

test("every class is tested", () => {
  const tried = [...Object.keys(ARGUMENTS), ...WITHOUT_OPTIONS];
  expect(tried.toSorted()).toEqual(classes.map(([name]) => name).toSorted());
});

describe.each(Object.entries(ARGUMENTS))("the class %s", (name, args) => {
  const Class = (troupe as unknown as { [name: string]: AnyClass })[name] as AnyClass;
  const at = args.findLastIndex((value) => Object.getPrototypeOf(value) === Object.prototype);
  const withOption = (option: string, value: unknown): unknown[] =>
    args.with(at, { ...(args[at] as object), [option]: value });

  test("is constructed", () => {
    expect(new Class(...args)).toBeInstanceOf(Class);
  });

  test("refuses an unknown option", () => {
    expect(() => new Class(...withOption("zzz_zzz", 1))).toThrow(/zzz_zzz: is not an option; use /);
  });

  test("accepts undefined for an option that is omitted", () => {
    const given = Object.keys(args[at] as object);
    const message = messageOf(() => new Class(...withOption("zzz_zzz", 1)));
    const known = /is not an option; use ([\w, ]+)/.exec(message)?.[1]?.split(", ") ?? [];
    expect(known).not.toEqual([]);
    for (const option of known.filter((one) => !given.includes(one))) {
      expect(new Class(...withOption(option, undefined)), option).toBeInstanceOf(Class);
    }
  });
});

test.each<[option: string, near: string, make: (options: never) => unknown, rest: object]>([
  ["model_client", "modelClient", (o) => new AssistantAgent(o), { name: "a" }],
  ["toolz", "tools", (o) => new AssistantAgent(o), { name: "a", modelClient }],
  ["max_turns", "maxTurns", (o) => new RoundRobinGroupChat(members, o), {}],
  ["include_agent_event", "includeAgentEvent", (o) => new MaxMessageTermination(1, o), {}],
  ["chunk_delay_ms", "chunkDelayMs", (o) => new ReplayChatCompletionClient(["a"], o), {}],
  ["output_task_messages", "outputTaskMessages", (o) => run(members[0]!, o), {}],
])("%s is refused: did you mean %s?", async (option, near, make, rest) => {
  const making = async (): Promise<unknown> => make({ ...rest, [option]: 1 } as never);
  await expect(making()).rejects.toThrow(`${option}: is not an option; did you mean "${near}"?`);
});

test("a key of component JSON in camel case gets the same answer", () => {
  const registry = new ComponentRegistry().register(...troupe.coreComponents(new troupe.Catalog()));
  const config = { name: "a", modelClient: troupe.dumpComponent(modelClient) };
  const json = { provider: "AssistantAgent", component_type: "agent", config };
  expect(messageOf(() => registry.load(json, "agent"))).toContain(
    'component.config.modelClient: is not a key of AssistantAgent and has no effect; did you mean "model_client"?',
  );
});

const add = (a: number, b: number): number => a + b;

test.each<[mistake: string, make: () => unknown, message: RegExp]>([
  [
    "a function as a tool",
    () => new AssistantAgent({ name: "a", modelClient, tools: [(() => 1) as never] }),
    /tools\[0\]: must be a tool, not a function.*new FunctionTool\(\{ name, description, parameters, execute \}\)/,
  ],
  [
    "a named function in a workbench",
    () => new troupe.StaticWorkbench([add as never]),
    /tools\[0\]: must be a tool, not the function add/,
  ],
  [
    "an agent as a tool",
    () => new AssistantAgent({ name: "a", modelClient, tools: [members[0] as never] }),
    /tools\[0\]: .*new AgentTool\(agent\)/,
  ],
  [
    "a team as a tool",
    () => new AssistantAgent({ name: "a", modelClient, tools: [team as never] }),
    /tools\[0\]: .*new TeamTool\(team/,
  ],
  [
    "the name of a model",
    () => new AssistantAgent({ name: "a", modelClient: "gpt-5-mini" as never }),
    /modelClient: must be a model client, .*, not "gpt-5-mini"/,
  ],
  [
    "no model",
    () => new AssistantAgent({ name: "a" } as never),
    /modelClient: is missing; it must be a model client/,
  ],
  [
    "a name outside of the options",
    () => new AssistantAgent("ann" as never),
    /The options of AssistantAgent must be an object with name, modelClient, .*, not "ann"/,
  ],
  [
    "a replay client without a list",
    () => new ReplayChatCompletionClient("Hi." as never),
    /completions: must be a list of texts and model results.*, not "Hi\."/,
  ],
  [
    "the options of a condition that takes a number",
    () => new MaxMessageTermination({ maxMessages: 3 } as never),
    /maxMessages: must be a number, not an object with maxMessages/,
  ],
  [
    "a team of names",
    () => new RoundRobinGroupChat(["ann"] as never),
    /participants\[0\]: must be an agent or a team, not "ann"/,
  ],
  [
    "a team of one agent without a list",
    () => new RoundRobinGroupChat(members[0] as never),
    /participants: must be a list, not an object of the class TestAgent/,
  ],
  [
    "a tool without a name",
    () => new FunctionTool({ execute: add } as never),
    /name: is missing.*description: is missing.*parameters: is missing/,
  ],
  [
    "a replay client with a number among the answers",
    () => new ReplayChatCompletionClient(["Hi.", 3] as never),
    /completions\[1\]: must be a text or a model result, not 3/,
  ],
  [
    "a tool that is not in a list",
    () => new AssistantAgent({ name: "a", modelClient, tools: tool as never }),
    /tools: must be a list, not an object with name/,
  ],
  [
    "parameters that are schemas by their names",
    () =>
      new FunctionTool({
        name: "f",
        description: "d",
        parameters: { city: z.string() } as never,
        execute: add as never,
      }),
    /parameters: must be a zod object, such as z\.object\(.*, not an object with city/,
  ],
  [
    "a model client in the place of options",
    () => new troupe.SelectorGroupChat(members, modelClient as never),
    /The options of SelectorGroupChat must be an object with .*, not an object of the class Replay/,
  ],
  [
    "the name of a model in the place of a client's options",
    () => new troupe.OpenAIChatCompletionClient("gpt-5-mini" as never),
    /The options of OpenAIChatCompletionClient must be an object, not a text/,
  ],
  [
    "a size that is an object",
    () => new troupe.BufferedChatCompletionContext({ bufferSize: 3 } as never),
    /buffer_size must be a whole number greater than 0, not an object with bufferSize/,
  ],
  [
    "a component of an unknown class",
    () =>
      new ComponentRegistry().load(
        { provider: "my.Agent", component_type: "agent", config: {} },
        "agent",
      ),
    /unknown provider "my\.Agent"; .*registerComponent\(MyClass\.component\)/,
  ],
])("%s gets a sentence", (_mistake, make, message) => {
  expect(make).toThrow(message);
});

test.each<[mistake: string, start: () => Promise<unknown>, message: RegExp]>([
  ["no agent", () => run(undefined as never, "Hello."), /agent or team: is missing/],
  [
    "the arguments in another order",
    () => run("Hello." as never, members[0] as never),
    /agent or team: must be an agent or a team, not "Hello\."/,
  ],
  [
    "a message in the place of options",
    () => run(members[0]!, { type: "TextMessage", source: "user", content: "Hello." } as never),
    /\{ task: message \}/,
  ],
  [
    "an inputFunc that returns a number",
    () => new troupe.UserProxyAgent({ name: "a", inputFunc: () => 3 as never }).run("Hello."),
    /a: inputFunc's answer: must be a text, not 3/,
  ],
])("a run with %s gets a sentence", async (_mistake, start, message) => {
  await expect(start()).rejects.toThrow(message);
});

describe("a custom agent", () => {
  test.each([
    ["on_messages", "onMessagesStream"],
    ["on_messages_stream", "onMessagesStream"],
    ["onMessages", "onMessagesStream"],
    ["on_reset", "onReset"],
    ["save_state", "saveState"],
  ])("that has the method %s is refused", (method, here) => {
    class Custom extends TestAgent {}
    Object.defineProperty(Custom.prototype, method, { value: () => undefined });
    expect(() => new Custom("a")).toThrow(
      `Custom has the method ${method}, which is ${here} in Troupe`,
    );
  });

  test("that has no method to answer is refused", () => {
    const Bare = class Bare extends (troupe.BaseChatAgent as unknown as AnyClass) {};
    expect(() => new Bare("a", "b")).toThrow(/Bare has no method onMessagesStream/);
  });
});

function messageOf(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}
