import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Json, JsonObject } from "troupe";
import { HUMAN, inTurn } from "../../api/protocols/support/teams.ts";
import type { Reply, RuleInput } from "../../support/fake-openai/rule.ts";
import { chatAgent } from "./agents.ts";
import type { Exchange, Journey, TraceEvent, TraceInput } from "./trace.ts";

const SAMPLES = "sdks/dotnet/tests/AGUI.Hosting.AspNetCore.IntegrationTests/Samples/GettingStarted";

/** The sample whose agent shares state with the client, and the one whose agent asks for an input. */
const STATE = "Step05_StateManagement";
const INPUT = "Step10_InterruptsUserInput";

interface FunctionCall {
  name: string;
  arguments: JsonObject;
  callId: string;
}

/** What the model's client of a sample got, as far as it is looked at. */
type Content =
  | { $type: "text" | "reasoning"; text: string }
  | ({ $type: "functionCall" } & FunctionCall)
  | { $type: "functionResult"; result: Json; callId: string }
  | { $type: "toolApprovalRequest"; toolCall: FunctionCall }
  | { $type: "interruptRequest"; message: string }
  | { $type: "usage"; details: Record<string, number> };

interface Update {
  contents: Content[];
  rawRepresentation?: { type: string; snapshot?: JsonObject };
}

/** One answer of the model, and the role of the message that it answers. */
interface ModelCall {
  role: "user" | "tool";
  reply: Reply;
}

/**
 * The conversations that the .NET SDK has recorded for the steps of its guide, with requests and events as they were on the wire,
 * and what the model said, as rules for the fake model.
 */
export function recordedJourneys(checkout: string): { journeys: Journey[]; rules: RuleInput[] } {
  const rules: RuleInput[] = [];
  const recordings = globSync(join(checkout, SAMPLES, "fixtures/*/*.recording.json")).toSorted();
  const journeys = recordings.map((path): Journey => {
    const name = basename(dirname(path));
    const turns = (readJson(path) as Update[][]).map(contentsOf);
    const exchanges = turns.map((_, index) => exchangeOf(checkout, name, index + 1));
    for (const [index, turn] of turns.entries()) {
      // The message of an earlier turn is in the later ones, too.
      rules.unshift(...rulesOf(name, turn, exchanges[index]!.input));
    }
    return { name, exchanges, sharesState: name === STATE, ...teamOf(name, turns.flat()) };
  });
  return { journeys, rules };
}

/** The state that a sample sends is what a model of this server writes with a tool. */
function contentsOf(turn: readonly Update[]): Content[] {
  return turn.flatMap(({ contents, rawRepresentation: raw }): Content[] => {
    if (raw?.type !== "STATE_SNAPSHOT") return contents;
    const changes = raw.snapshot ?? {};
    const usage: Content = { $type: "usage", details: {} };
    const call = { name: "update_state", arguments: { changes }, callId: "state" };
    return [
      usage,
      { $type: "functionCall", ...call },
      { $type: "functionResult", result: null, callId: "state" },
    ];
  });
}

function exchangeOf(checkout: string, name: string, turn: number): Exchange {
  const [input = "", events = ""] = ["02.Request.Client.AGUI", "06.Response.Server.AGUI"].flatMap(
    (part) => globSync(join(checkout, SAMPLES, "baselines", name, `*#Turn_0${turn}.${part}.*`)),
  );
  return { input: readJson(input) as TraceInput, events: readJson(events) as TraceEvent[] };
}

function rulesOf(name: string, turn: readonly Content[], input: TraceInput): RuleInput[] {
  const { role, content } = input.messages.at(-1)!;
  const user = input.messages.findLast((message) => message.role === "user")?.content;
  const text = typeof user === "string" ? user : "";
  const resumes = input.resume !== undefined && name !== INPUT;
  const first = role === "tool" || resumes ? "tool" : "user";
  return modelCalls(turn, first).map((call, index) => ({
    name: `${name} ${String(content)} ${index}`,
    match: { system: name, any: text, role: call.role },
    reply: call.reply,
  }));
}

function modelCalls(turn: readonly Content[], first: ModelCall["role"]): ModelCall[] {
  const calls: ModelCall[] = [{ role: first, reply: {} }];
  for (const content of turn) {
    const { reply } = calls.at(-1)!;
    switch (content.$type) {
      case "text":
        reply.content = (reply.content ?? "") + content.text;
        break;
      case "reasoning":
        reply.reasoning = (reply.reasoning ?? "") + content.text;
        break;
      case "functionCall":
      case "toolApprovalRequest": {
        const call = content.$type === "functionCall" ? content : content.toolCall;
        reply.tool_calls = [
          ...(reply.tool_calls ?? []),
          { id: call.callId, name: call.name, arguments: call.arguments },
        ];
        break;
      }
      case "usage":
        reply.usage = usageOf(content.details);
        break;
      case "functionResult":
        // A call without usage is one of an earlier turn, which is repeated with its result.
        if (reply.usage === undefined) calls.pop();
        if (calls.at(-1)?.role !== "tool" || calls.at(-1)?.reply.tool_calls) {
          calls.push({ role: "tool", reply: {} });
        }
        break;
      case "interruptRequest":
        calls.pop();
    }
  }
  return calls;
}

function usageOf(details: Record<string, number>): NonNullable<Reply["usage"]> {
  const { inputTokenCount = 0, outputTokenCount = 0 } = details;
  return {
    prompt_tokens: inputTokenCount,
    completion_tokens: outputTokenCount,
    prompt_tokens_details: { cached_tokens: details["cachedInputTokenCount"] ?? 0 },
    completion_tokens_details: { reasoning_tokens: details["reasoningTokenCount"] ?? 0 },
  };
}

function teamOf(name: string, contents: readonly Content[]): Pick<Journey, "component" | "answer"> {
  const agent = chatAgent({
    system_message: name,
    tools: toolsIn(contents),
    ...(name === STATE && {
      memory: [{ provider: "troupe.memory.SharedStateMemory", config: {} }],
    }),
  });
  const question = contents.find((content) => content.$type === "interruptRequest");
  if (question === undefined) return { component: agent };
  const human = { ...HUMAN, config: { ...HUMAN.config, prompt: question.message } };
  return {
    component: inTurn(human, agent),
    answer: ({ response = null }) => ({ content: response }),
  };
}

/** The tools of the sample's server, which return what was recorded. */
function toolsIn(contents: readonly Content[]): JsonObject[] {
  const approved = new Set<string>();
  const names = new Map<string, string>();
  const tools = new Map<string, JsonObject>();
  for (const content of contents) {
    if (content.$type === "toolApprovalRequest") approved.add(content.toolCall.name);
    if (content.$type === "functionCall") names.set(content.callId, content.name);
    if (content.$type !== "functionResult" || content.callId === "state") continue;
    const name = names.get(content.callId) ?? "";
    const config = { name, result: content.result };
    tools.set(name, {
      provider: "test.RecordedTool",
      config: { ...config, ...(approved.has(name) && { approval: "human" }) },
    });
  }
  return [...tools.values()];
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
}
