import { delimiter, join } from "node:path";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import type { RuleInput } from "../support/fake-openai/rule.ts";
import { TestWorker } from "../support/worker.ts";
import { printedOutcomes, type Stage, type Suite } from "./suite.ts";

const KEY = "suite";
const PLACE = JSON.stringify({ city: "Vienna", districts: 23 });

/** What the model says to the program's steps. */
const RULES: readonly RuleInput[] = [
  { name: "refunded", match: { any: '{"assistant": "Refunds"}' }, reply: { content: "Refunded." } },
  {
    name: "hand off",
    match: { text: "A refund" },
    reply: { tool_calls: [{ name: "transfer_to_refunds", arguments: {} }] },
  },
  { name: "place", match: { role: "tool", any: "as a place" }, reply: { content: PLACE } },
  {
    name: "final place",
    match: { text: "Final place" },
    reply: { tool_calls: [{ name: "final_result", arguments: { city: "Vienna", districts: 23 } }] },
  },
  {
    name: "more after a tool",
    match: { role: "tool", text: "More." },
    reply: { content: "More of it." },
  },
  { name: "which place", match: { text: "Which place" }, reply: { content: PLACE } },
  {
    name: "written",
    match: { role: "tool", text: "Four little words here." },
    reply: { content: "It says: Four little words here." },
  },
  { name: "told", match: { role: "tool" }, reply: { content: "You are in Vienna." } },
  {
    name: "locate",
    match: { text: "Where am I" },
    reply: { tool_calls: [{ name: "locate", arguments: { precise: false } }] },
  },
  {
    name: "locate both",
    match: { text: "both of us" },
    reply: {
      tool_calls: [
        { id: "call_1", name: "locate", arguments: { precise: false } },
        { id: "call_2", name: "locate", arguments: { precise: true } },
      ],
    },
  },
  {
    name: "write",
    match: { text: "Let it be written" },
    reply: { tool_calls: [{ name: "write", arguments: { input: "Write." } }] },
  },
  { name: "seen", match: { text: "Image from locate" }, reply: { content: "You see Vienna." } },
  {
    name: "run writer",
    match: { text: "Use the tool run_writer" },
    reply: { tool_calls: [{ name: "run_writer", arguments: { task: "Write." } }] },
  },
  { name: "more", match: { text: "More." }, reply: { content: "More of it." } },
  { name: "see", match: { any: "What is this?" }, reply: { content: "A picture and a note." } },
  {
    name: "fail",
    match: { text: "Fail." },
    fault: { kind: "status", status: 400, message: "No such thing." },
  },
  {
    name: "answer",
    match: { text: "Write." },
    reply: { content: "Four little words here." },
    pace_ms: 20,
  },
];

/** OpenAI's Agents SDK for Python (openai/openai-agents-python). */
export const agentsPython = suiteOf("openai_agents.py", {
  commit: "4df9ecfae1761ca6fea67cc5a20b383c1d492024",
  sources: ["src"],
});

/** pydantic-ai with its models of OpenAI's API (pydantic/pydantic-ai). */
export const pydanticAI = suiteOf("pydantic_agents.py", {
  commit: "1d7eb695cc17c5bed46d32749ed02092819fc3a1",
  sources: ["pydantic_ai_slim", "pydantic_graph"],
});

/**
 * A suite for a Python framework that has no tests for servers of others. The program is part of this project, the framework is in the
 * checkout.
 * `SUITE_PYTHON` is a Python with the packages that the framework needs.
 *
 * @param sources where the checkout has its modules
 */
function suiteOf(
  program: string,
  { commit, sources }: { commit: string; sources: readonly string[] },
): Suite {
  return { commit, expectedFailures: {}, start: () => start(program, sources) };
}

async function start(program: string, sources: readonly string[]): Promise<Stage> {
  const fake = await startFakeOpenAI({ rules: RULES });
  const worker = await TestWorker.start({
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: fake.url,
    ALLOWED_EGRESS: new URL(fake.url).origin,
    TROUPE_OPEN: "",
    API_KEYS: JSON.stringify([{ hash: await sha256Hex(KEY), tenant: "acme", scopes: SCOPES }]),
  });
  const { origin } = new URL(await worker.origin);
  return {
    run: (checkout) => ({
      command: process.env["SUITE_PYTHON"] ?? "python3",
      args: [join(import.meta.dirname, "programs", program)],
      env: {
        PYTHONPATH: sources.map((folder) => join(checkout, folder)).join(delimiter),
        TROUPE_URL: origin,
        TROUPE_KEY: KEY,
      },
      outcomes: printedOutcomes,
    }),
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}
