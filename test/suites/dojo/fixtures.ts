import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { chatAgent } from "./agents.ts";
import type { Exchange, Journey, TraceEvent, TraceInput } from "./trace.ts";

interface Fixture {
  match: { userMessage: string };
  response: {
    content?: string;
    reasoning?: string;
    toolCalls?: { name: string; arguments: string; id: string }[];
  };
}

/** What the mock model says to the result of a tool. */
const AFTER_TOOLS = "Done! I've completed that for you.";

const IDS = { threadId: "thread", runId: "run" };

/**
 * Each fixture of the mock model as a conversation: those features of the dojo of which there is no trace. The tools that a fixture
 * calls are the page's.
 */
export function fixtureJourneys(e2e: string): Journey[] {
  return globSync(join(e2e, "fixtures/openai/*.json"))
    .toSorted()
    .flatMap((path) => {
      const { fixtures } = JSON.parse(readFileSync(path, "utf8")) as { fixtures: Fixture[] };
      return fixtures.map((fixture) => ({
        name: `${basename(path, ".json")}: ${fixture.match.userMessage}`,
        component: chatAgent(),
        exchanges: exchangesOf(fixture),
      }));
    });
}

function exchangesOf({ match, response }: Fixture): Exchange[] {
  const { content, reasoning, toolCalls = [] } = response;
  const parameters = { type: "object", properties: {} };
  const tools = toolCalls.map(({ name }) => ({ name, description: name, parameters }));
  const asked = { id: "user", role: "user", content: match.userMessage };
  const input: TraceInput = { ...IDS, messages: [asked], tools };
  const said = [
    ...(reasoning === undefined ? [] : reasoned(reasoning)),
    ...(content === undefined ? [] : text(content)),
    ...toolCalls.flatMap(call),
  ];
  const first = { input, events: run(said) };
  if (toolCalls.length === 0) return [first];
  const calls = toolCalls.map(({ id, ...own }) => ({ id, type: "function", function: own }));
  const results = toolCalls.map(({ id }) => ({
    id: `result-${id}`,
    role: "tool",
    toolCallId: id,
    content: "done",
  }));
  const calling = { id: "calls", role: "assistant", toolCalls: calls };
  const messages = [asked, calling, ...results];
  return [first, { input: { ...input, messages }, events: run(text(AFTER_TOOLS)) }];
}

function run(events: TraceEvent[]): TraceEvent[] {
  return [{ type: "RUN_STARTED", ...IDS }, ...events, { type: "RUN_FINISHED", ...IDS }];
}

function text(delta: string): TraceEvent[] {
  const messageId = "text";
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

function reasoned(delta: string): TraceEvent[] {
  const messageId = "reasoning";
  return [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId, delta },
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}

function call({ id, name, arguments: delta }: { id: string; name: string; arguments: string }) {
  return [
    { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
    { type: "TOOL_CALL_ARGS", toolCallId: id, delta },
    { type: "TOOL_CALL_END", toolCallId: id },
  ];
}
