import { join } from "node:path";
import type { CachingOptions } from "../caching/conversation.ts";
import { PEERS_INSTALLED } from "../conversation/all-peers.ts";
import { startJsonLines } from "../support/json-lines.ts";
import type { Goal, MeasureOptions, Report } from "../support/report.ts";
import type { CacheUse } from "../../test/support/fake-openai/prompt-cache.ts";
import { startFakeOpenAI } from "../../test/support/fake-openai/server.ts";

const BENCH = join(import.meta.dirname, "..");

/** Dollars per million tokens of input: new, read from the cache, written to it. November 2026. */
const PRICES = {
  "gpt-4.1": { input: 2, read: 0.5, write: 2 },
  "claude-sonnet-4-5": { input: 3, read: 0.3, write: 3.75 },
} as const;
type Model = keyof typeof PRICES;

interface Candidate {
  name: string;
  program: string;
  model: Model;
  caches: boolean;
}

const OWN: readonly Candidate[] = [
  { name: "Troupe", program: "caching/team.ts", model: "gpt-4.1", caches: true },
  { name: "Troupe", program: "caching/team.ts", model: "claude-sonnet-4-5", caches: true },
  {
    name: "Troupe, cache off",
    program: "caching/team.ts",
    model: "claude-sonnet-4-5",
    caches: false,
  },
];
const OTHERS: readonly Candidate[] = [
  { name: "AI SDK", program: "peers/caching-ai-sdk.ts", model: "gpt-4.1", caches: true },
  {
    name: "OpenAI Agents SDK",
    program: "peers/caching-openai-agents.ts",
    model: "gpt-4.1",
    caches: true,
  },
];

const TURNS = 50;
/** Least part of the input, in percent, that a long conversation reads from the cache. */
const LEAST_READ = 90;

/** How much of the input of a long conversation comes from the caches of model servers, and what it costs. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const rows: Report["rows"][number][] = [];
  const goals: Goal[] = [];
  const candidates = PEERS_INSTALLED ? [...OWN, ...OTHERS] : OWN;
  for (const candidate of candidates) {
    const long = await converse(candidate, smoke ? 5 : TURNS);
    const once = await converse(candidate, 1);
    const read = (100 * long.read) / long.prompt;
    rows.push({
      library: candidate.name,
      model: candidate.model,
      "input tokens": long.prompt,
      "read, %": read,
      "written, %": (100 * long.written) / long.prompt,
      "input, ¢": cents(candidate.model, long),
      "without a cache, ¢": cents(candidate.model, { ...long, read: 0, written: 0 }),
      "asked once, ¢": cents(candidate.model, once),
    });
    if (candidate.name === "Troupe") {
      goals.push({
        what: `input read from the cache by ${candidate.model}`,
        value: read,
        unit: "%",
        limit: { atLeast: LEAST_READ },
      });
    }
  }
  return {
    title: "Prompt caching",
    method: `An agent with ten tools, ${TURNS} turns in memory, every third with a tool call, against a fake server that caches prefixes by the makers' rules: minimum length, steps, breakpoints, look-back, lifetime. A second goes by between requests. Prices of input alone.`,
    rows,
    goals,
  };
}

async function converse({ program, model, caches }: Candidate, turns: number): Promise<CacheUse> {
  const total: CacheUse = { prompt: 0, read: 0, written: 0 };
  let now = 0;
  await using fake = await startFakeOpenAI({
    caches: {
      now: () => (now += 1000),
      onUse: ({ prompt, read, written }) => {
        total.prompt += prompt;
        total.read += read;
        total.written += written;
      },
    },
    rules: [
      { name: "result", match: { role: "tool" }, reply: { content: said("It is sunny there.") } },
      {
        name: "call",
        match: { text: "Look it up" },
        reply: { tool_calls: [{ name: "tool_3", arguments: { query: "weather" } }] },
      },
      { name: "say", reply: { content: said("A sentence of an answer.") } },
    ],
  });
  await using lines = await startJsonLines(join(BENCH, program), []);
  const baseURL = model.startsWith("claude-") ? fake.origin : fake.url;
  const options: CachingOptions = { baseURL, model, turns, caches };
  await lines.ask(options);
  return total;
}

function said(sentence: string): string {
  return `${sentence} `.repeat(8);
}

function cents(model: Model, { prompt, read, written }: CacheUse): number {
  const price = PRICES[model];
  const input = (prompt - read - written) * price.input;
  return (input + read * price.read + written * price.write) / 10_000;
}
