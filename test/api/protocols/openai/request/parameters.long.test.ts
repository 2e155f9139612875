import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newTeam, writer } from "../../support/teams.ts";
import { LOCATE, type Stage, startStage } from "../support/stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

/** Names of the parameters that the client's type of a request has. */
function parametersOf(file: string, type: string): string[] {
  const source = readFileSync(
    new URL(`../../../../../node_modules/openai/resources/${file}.d.ts`, import.meta.url),
    "utf8",
  );
  const [, body = ""] = source.split(`export interface ${type} {\n`);
  const [members = ""] = body.split("\n}\n");
  return [...members.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name = ""]) => name);
}

/** What the table of the page says of a parameter, by its name. */
const rules = new Map<string, string>();
const page = readFileSync(new URL("../../../../../docs/openai.md", import.meta.url), "utf8");
const [, table = ""] = page.split("| parameter | |\n");
for (const line of (table.split("\n\n")[0] ?? "").split("\n")) {
  const [names = "", rule = ""] = line.split(" | ");
  for (const [, name = ""] of names.matchAll(/`([\w.]+)(?:: \w+)?`/g)) rules.set(name, rule);
}

const TOOLS = {
  chat: [{ type: "function", function: LOCATE }],
  responses: [{ type: "function", ...LOCATE, strict: false }],
};

/** A value that asks for something, and what the page calls it. A parameter without one here is new. */
const VALUES: Record<string, [value: unknown, name?: string]> = {
  access_programs: [{ cyber: "standard" }],
  audio: [{ voice: "alloy", format: "mp3" }],
  background_options: [{ completion_window: "2h" }],
  context_management: [[{ type: "compaction" }]],
  frequency_penalty: [1],
  function_call: ["auto"],
  functions: [[{ name: "look" }]],
  image: [{ context_compression: "enabled" }],
  include: [["reasoning.encrypted_content"]],
  logit_bias: [{ 1: 2 }],
  logprobs: [true],
  max_completion_tokens: [5],
  max_output_tokens: [5],
  max_tokens: [5],
  max_tool_calls: [5],
  modalities: [["text", "audio"]],
  moderation: [{ model: "omni-moderation-latest" }],
  n: [2],
  parallel_tool_calls: [false],
  prediction: [{ type: "content", content: "Four" }],
  presence_penalty: [1],
  prompt: [{ id: "pmpt_1" }],
  prompt_cache_key: ["key"],
  prompt_cache_options: [{ mode: "explicit" }],
  prompt_cache_retention: ["24h"],
  reasoning: [{ effort: "low" }],
  reasoning_effort: ["low"],
  seed: [1],
  service_tier: ["flex"],
  stop: [["x"]],
  temperature: [0],
  text: [{ verbosity: "low" }, "text.verbosity"],
  top_logprobs: [2],
  top_p: [0.5],
  truncation: ["auto"],
  verbosity: ["low"],
  web_search_options: [{ search_context_size: "low" }],
  // Those that have their effect.
  background: [true],
  conversation: [null],
  input: ["Write."],
  instructions: ["Be brief."],
  messages: [[{ role: "user", content: "Write." }]],
  metadata: [{ a: "b" }],
  previous_response_id: [null],
  response_format: [{ type: "json_object" }],
  safety_identifier: ["somebody"],
  stream: [false],
  tool_choice: ["none"],
  user: ["somebody"],
};

const OF_API = {
  chat: {
    path: "/openai/v1/chat/completions",
    parameters: parametersOf("chat/completions/completions", "ChatCompletionCreateParamsBase"),
    base: { messages: [{ role: "user", content: "Write." }] },
    values: {
      store: [true],
      stream_options: [{ include_obfuscation: true }, "stream_options.include_obfuscation"],
      tools: [TOOLS.chat],
    },
  },
  responses: {
    path: "/openai/v1/responses",
    parameters: parametersOf("responses/responses", "ResponseCreateParamsBase"),
    base: { input: "Write." },
    values: {
      store: [false],
      stream_options: [{ include_obfuscation: true }, "stream_options.include_obfuscation"],
      tools: [TOOLS.responses],
    },
  },
} as const;

test.each(["chat", "responses"] as const)(
  "each parameter of the client has the effect that the page documents: %s",
  async (api) => {
    const { path, parameters, base, values } = OF_API[api];
    expect(parameters.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const [index, parameter] of parameters.entries()) {
      if (parameter === "model") continue;
      const known: Record<string, readonly [unknown, string?]> = { ...VALUES, ...values };
      const [value, name = parameter] = known[parameter] ?? [];
      const rule = rules.get(name);
      if (!(parameter in known) || rule === undefined) {
        wrong.push(`${parameter} is not on the page, or not in this test`);
        continue;
      }
      const id = `${api}-${index}`;
      await newTeam(stage.worker, { id, component: writer() });
      const response = await stage.worker.fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: `team:${id}`, ...base, [parameter]: value }),
      });
      const { error, troupe } = (await response.json()) as {
        error?: { param: string } | null;
        troupe?: { ignored?: string[] };
      };
      const is =
        response.status === 400 && error?.param === name
          ? "refused"
          : troupe?.ignored?.includes(name)
            ? "no effect"
            : "effect";
      const says = rule.includes("are refused, because")
        ? "refused"
        : rule.includes("no effect")
          ? "no effect"
          : "effect";
      if (is !== says) wrong.push(`${parameter}: ${is}, and the page says ${says}`);
    }
    expect(wrong).toEqual([]);
  },
);

test("unknown parameters are named unless they request nothing", async () => {
  await newTeam(stage.worker, { id: "unknown", component: writer() });
  const completion = await stage.openai.chat.completions.create({
    model: "team:unknown",
    messages: [{ role: "user", content: "Write." }],
    newest_idea: true,
    // A name that every object of JavaScript has.
    constructor: true,
    other: {},
    another: null,
    service_tier: "auto",
    n: 1,
    stream_options: { include_usage: true, include_obfuscation: false },
  } as Parameters<typeof stage.openai.chat.completions.create>[0]);
  expect(completion).toMatchObject({ troupe: { ignored: ["constructor", "newest_idea"] } });
});
