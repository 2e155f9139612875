import { join } from "node:path";
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import {
  AssistantAgent,
  OpenAIChatCompletionClient,
  UnboundedChatCompletionContext,
  run,
} from "troupe";
import type { LLMMessage } from "troupe";
import { startNode } from "../support/child.ts";
import type { Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";

const FAKE = join(import.meta.dirname, "../../test/support/fake-openai/main.ts");
const MODEL = "gpt-4o";
const SYSTEM = "You are a helpful assistant.";
const HISTORIES = [20, 200, 1000];
const ROUNDS = 25;
const TURNS = 20;
/** Rounds until the compiler has settled. */
const WARM_UP = 10;

/** Says something and waits for the answer. */
type Conversation = (text: string) => Promise<unknown>;

/** CPU per turn of an agent against the bare SDK that sends the same requests. */
export async function measure(): Promise<Report> {
  const rules = join(import.meta.dirname, "../support/fake-rules.json");
  await using fake = await startNode<{ url: string }>(FAKE, ["--no-record", "--rules", rules]);
  const rows: Report["rows"][number][] = [];
  const goals: Report["goals"][number][] = [];
  for (const stream of [false, true]) {
    for (const history of HISTORIES) {
      const sdk: number[] = [];
      const agent: number[] = [];
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        // Which of the two comes first changes, because the first of a round meets a colder machine.
        const pair = [
          () => cpuPerTurn(bareSdk(fake.hello.url, history, stream)).then((ms) => sdk.push(ms)),
          () => cpuPerTurn(troupe(fake.hello.url, history, stream)).then((ms) => agent.push(ms)),
        ];
        for (const measureOne of round % 2 === 0 ? pair : pair.toReversed()) await measureOne();
      }
      const ratios = agent.map((ms, index) => ms / (sdk[index] ?? 0));
      const ratio = median(ratios.slice(WARM_UP));
      rows.push({
        reply: stream ? "streamed" : "whole",
        "messages of history": history,
        "openai SDK, ms per turn": median(sdk.slice(WARM_UP)),
        "agent, ms per turn": median(agent.slice(WARM_UP)),
        ratio,
      });
      goals.push({
        what: `${stream ? "streamed" : "whole"} replies, ${history} messages`,
        value: ratio,
        unit: "times the CPU of the SDK",
        limit: { atMost: 1.15 },
      });
    }
  }
  return {
    title: "CPU per turn of a conversation, in Node",
    method: `process.cpuUsage over ${TURNS} turns, the median of ${ROUNDS} rounds in which agent and SDK take turns, after ${WARM_UP} to warm up. The model is a fake server in another process; a reply has 60 words, streamed word by word.`,
    rows,
    goals,
  };
}

async function cpuPerTurn(say: Conversation): Promise<number> {
  await say("Let us begin.");
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let turn = 0; turn < TURNS; turn++) await say(text(turn));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / TURNS;
}

function bareSdk(baseURL: string, history: number, stream: boolean): Conversation {
  const client = new OpenAI({ baseURL, apiKey: "bench", maxRetries: 0 });
  const messages: ChatCompletionMessageParam[] = [{ role: "system", content: SYSTEM }];
  for (let index = 0; index < history; index++) {
    messages.push(
      index % 2 === 0
        ? { role: "user", name: "user", content: text(index) }
        : { role: "assistant", content: text(index) },
    );
  }
  return async (content) => {
    messages.push({ role: "user", name: "user", content });
    let reply = "";
    if (stream) {
      const chunks = await client.chat.completions.create({
        model: MODEL,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const chunk of chunks) reply += chunk.choices[0]?.delta.content ?? "";
    } else {
      const completion = await client.chat.completions.create({ model: MODEL, messages });
      reply = completion.choices[0]?.message.content ?? "";
    }
    messages.push({ role: "assistant", content: reply });
  };
}

function troupe(baseURL: string, history: number, stream: boolean): Conversation {
  const modelContext = new UnboundedChatCompletionContext();
  for (let index = 0; index < history; index++) modelContext.addMessage(message(index));
  const agent = new AssistantAgent({
    name: "assistant",
    systemMessage: SYSTEM,
    modelClient: new OpenAIChatCompletionClient({ model: MODEL, baseURL, apiKey: "bench" }),
    modelClientStream: stream,
    modelContext,
  });
  return (task) => run(agent, { task });
}

function message(index: number): LLMMessage {
  return index % 2 === 0
    ? { type: "UserMessage", source: "user", content: text(index) }
    : { type: "AssistantMessage", source: "assistant", thought: null, content: text(index) };
}

function text(index: number): string {
  return `Message ${index}: ${"a sentence of ordinary length that says little. ".repeat(4)}`;
}
