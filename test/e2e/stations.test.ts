import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { instrumentCalls } from "../support/instrument-calls.ts";
import { TestWorker } from "../support/worker.ts";

const PAGE = join(import.meta.dirname, "../../docs/design/engine.md");
const ROUTER = "src/api/http/app.ts";
const MOST_STATIONS = 25;
const MOST_FILES = 60;

interface Way {
  /** From the Worker's `fetch` to the request to the model. */
  calls: { file: string; name: string }[];
  /** The files whose functions called functions of other files on the way, also those that had returned. */
  files: string[];
  /** The files whose functions were called and called none of another file. */
  helpers: string[];
}

let openai: FakeOpenAI;
let worker: TestWorker;
let way: Way;

beforeAll(async () => {
  openai = await startFakeOpenAI({ rules: [{ name: "greet", reply: { content: "Hello." } }] });
  worker = await TestWorker.start(
    { SECRETS_KEY: btoa("k".repeat(32)) },
    {
      entry: "test/e2e/worker/stations/worker.ts",
      esbuild: {
        minify: false,
        inject: [join(import.meta.dirname, "worker/stations/calls.ts")],
        plugins: [instrumentCalls],
      },
    },
  );
  const client = new TroupeClient({ baseURL: await worker.origin });
  const team = await client.teams.create({ component: component() });
  // The first run builds the team.
  for (const task of ["Hello?", "Once more."]) {
    for await (const item of team.run(task)) if (item.kind === "result") break;
  }
  way = (await (await worker.fetch("/way")).json()) as Way;
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai.close();
});

const component = () => ({
  provider: "RoundRobinGroupChat",
  config: {
    max_turns: 1,
    participants: [
      {
        provider: "AssistantAgent",
        config: {
          name: "greeter",
          description: "Greets.",
          model_client_stream: true,
          reflect_on_tool_use: false,
          tool_call_summary_format: "{result}",
          model_client: {
            provider: "OpenAIChatCompletionClient",
            config: { model: "gpt-4o", api_key: "key", base_url: openai.url },
          },
        },
      },
    ],
  },
});

/** Each call of a function of another file than the one before, from the router on. */
function stations({ calls }: Way): string[] {
  return calls
    .slice(calls.findIndex(({ file }) => file === ROUTER))
    .filter(({ file }, index, all) => file !== all[index - 1]?.file)
    .map(({ file, name }) => `${file} ${name}`);
}

/** The rows of the table in `docs/design/engine.md`: number, file, function. */
function documented(): string[] {
  const rows = readFileSync(PAGE, "utf8").matchAll(/^\| \d+ \| `(src\/\S+)` \| `(\S+)` \|/gm);
  return Array.from(rows, ([, file = "", name = ""]) => `${file} ${name}`);
}

/** A table of folders and their files in the same page. @param title in its head */
function documentedFiles(title: string): string[] {
  const [, table = ""] = readFileSync(PAGE, "utf8").split(`\n| folder | ${title} |\n`);
  const rows = (table.split("\n\n")[0] ?? "").matchAll(/^\| `(src\/[\w/-]+)` \| (`.*`) \|$/gm);
  return Array.from(rows, ([, folder = "", files = ""]) =>
    Array.from(files.matchAll(/`([^`]+)`/g), ([, file]) => `${folder}/${file}`),
  )
    .flat()
    .toSorted();
}

test("the page lists the stations of a streamed run from the router to the model's request", () => {
  expect(stations(way)).toEqual(documented());
});

test(`they are at most ${MOST_STATIONS}`, () => {
  expect(stations(way).length).toBeLessThanOrEqual(MOST_STATIONS);
});

test("the page lists the files whose functions call on to others on the way", () => {
  expect(way.files).toEqual(documentedFiles("files on the way"));
});

test(`they are at most ${MOST_FILES}`, () => {
  expect(way.files.length).toBeLessThanOrEqual(MOST_FILES);
});

test("the page lists the files whose functions only answer", () => {
  expect(way.helpers).toEqual(documentedFiles("helpers"));
});
