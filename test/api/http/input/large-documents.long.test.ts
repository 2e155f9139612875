// Documents of the largest size, of the kinds that once ended or stopped the Worker.
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_DOCUMENT_BYTES } from "#contract/constants.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { KillableWorker } from "../../../support/killable-worker.ts";
import { rowsOf } from "../../../support/samples.ts";

const MOST_MEMORY = 400_000_000;
/** How long others may wait, in time that the Worker computes: other programs may take the processor meanwhile. */
const MOST_WAIT_MS = 1_000;

function filled(unit: string, start = ""): string {
  return start + unit.repeat(Math.floor((MAX_DOCUMENT_BYTES - start.length) / unit.length));
}

const TABLE = "| part | name | price | remark |\n|---|---|---|---|\n";
const ROW = "| 12345 | the name of a part | 17.30 | some remarks on it, and where it is |\n";

/** An agent that looks for each question in the collection `many`. */
const READER = {
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  config: {
    participants: [
      {
        provider: "autogen_agentchat.agents.AssistantAgent",
        config: {
          name: "reader",
          model_client: {
            provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
            config: { chat_completions: ["Yes."] },
          },
          memory: [{ provider: "troupe.memory.CollectionMemory", config: { collection: "many" } }],
        },
      },
    ],
    max_turns: 1,
  },
};

let worker: KillableWorker;

beforeAll(async () => {
  worker = await KillableWorker.start({}, { v8Flags: ["--max-heap-size=128"] });
});

afterAll(() => worker[Symbol.asyncDispose]());

/** The longest that another request waits for the Worker while `work` is under way. */
async function longestWait(work: Promise<unknown>, path = "/v1/collections"): Promise<number> {
  const state = { isOver: false };
  let longest = 0;
  void work.finally(() => (state.isOver = true));
  while (!state.isOver) {
    const started = worker.cpuMs;
    expect((await worker.fetch(path)).status).toBe(200);
    longest = Math.max(longest, worker.cpuMs - started);
  }
  return longest;
}

/** Units that documents consist of, after a beginning, and the status of the answer. */
const KINDS: readonly (readonly [string, string, [unit: string, start?: string], number])[] = [
  ["a table", "text/markdown", [ROW, TABLE], 202],
  ["a list", "text/markdown", ["- an item of the list, with some words\n"], 202],
  ["one endless line", "text/markdown", ["word "], 202],
  ["prose", "text/plain", [`${"These are words of a sentence. ".repeat(20)}\n\n`], 202],
  ["tiny paragraphs", "text/plain", ["a\n\n"], 202],
  ["a table of HTML", "text/html", ["<tr><td>1<td>some words<td>3</tr>", "<table>"], 202],
  ["underlined headings", "text/markdown", ["a\n-\n"], 422],
  ["headings of HTML", "text/html", ["<h1>a</h1>b"], 422],
];

test.each([
  ...rowsOf("Markdown", KINDS.slice(0, 3)),
  ...rowsOf("texts", KINDS.slice(3, 5)),
  ...KINDS.slice(5),
])(
  "%s of 20 MB is read in 128 MB, while other requests are answered",
  async (name, type, units, status) => {
    const body = filled(...units);
    const path = `/v1/collections/large/documents/${name.replaceAll(" ", "-")}`;
    const put = worker.fetch(path, { method: "PUT", body, headers: { "content-type": type } });
    const longest = await longestWait(put);
    const answer = await (await put).json();
    expect((await put).status, JSON.stringify(answer)).toBe(status);
    expect(longest).toBeLessThan(MOST_WAIT_MS);
    expect(worker.peakMemory).toBeLessThan(MOST_MEMORY);
  },
);

test("concurrent documents of 50 MB wait, and further ones are refused until memory is free", async () => {
  const body = filled(ROW, TABLE);
  const headers = { "content-type": "text/markdown" };
  const put = (id: number): Promise<Response> =>
    worker.fetch(`/v1/collections/large/documents/at-once-${id}`, { method: "PUT", body, headers });
  const all = await Promise.all(Array.from({ length: 8 }, (_, id) => put(id)));
  const statuses = all.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202).length).toBeGreaterThan(1);
  const refused = all.filter(({ status }) => status !== 202);
  expect(refused.length).toBeGreaterThan(0);
  for (const response of refused) {
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await response.json()).toMatchObject({ code: "temporarily_unavailable", status: 503 });
  }
  expect(worker.peakMemory).toBeLessThan(MOST_MEMORY);
  expect((await put(statuses.indexOf(503))).status).toBe(202);
});

test("a large document that is put again is replaced as a whole, and erased when it is deleted", async () => {
  const path = "/v1/collections/large/documents/replaced";
  const put = (word: string): Promise<Response> =>
    worker.fetch(path, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: `${`${word} and some other words of a sentence. `.repeat(30)}\n\n`.repeat(1_000),
    });
  const found = async (q: string): Promise<number> => {
    const init = jsonInit({ q, k: 5 });
    const answer = await worker.fetch("/v1/collections/large/search", init);
    return ((await answer.json()) as { results: unknown[] }).results.length;
  };
  expect((await put("aardvark")).status).toBe(202);
  const second = put("bumblebee");
  const seen = new Set<string>();
  const state = { isOver: false };
  void second.finally(() => (state.isOver = true));
  while (!state.isOver) {
    const [before, after] = await Promise.all([found("aardvark"), found("bumblebee")]);
    seen.add(`${before} ${after}`);
  }
  expect((await second).status).toBe(202);
  expect(
    [...seen].filter((counts) => counts !== "5 0" && counts !== "0 5" && counts !== "5 5"),
  ).toEqual([]);
  expect([await found("aardvark"), await found("bumblebee")]).toEqual([0, 5]);
  expect((await worker.fetch(path, { method: "DELETE" })).status).toBe(204);
  expect(await found("bumblebee")).toBe(0);
});

test("a document that was being written when the process ended does not exist, and can be put again", async () => {
  const path = "/v1/collections/killed/documents/it";
  const init = {
    method: "PUT",
    headers: { "content-type": "text/plain" },
    body: filled("These are words of a platypus. "),
  };
  const cut = worker.fetch(path, init).catch(() => undefined);
  await expect.poll(async () => (await worker.fetch("/v1/collections/killed")).status).toBe(200);
  await worker.kill();
  await cut;
  await worker.restart();
  expect((await worker.fetch(path)).status).toBe(404);
  const search = jsonInit({ q: "platypus" });
  const found = await worker.fetch("/v1/collections/killed/search", search);
  expect(await found.json()).toMatchObject({ results: [] });
  expect((await worker.fetch(path, { ...init, body: "A platypus." })).status).toBe(202);
  const again = await worker.fetch("/v1/collections/killed/search", search);
  expect(await again.json()).toMatchObject({ results: [{ content: "A platypus." }] });
});

test("a question of 400 kB does not block a collection of 10,000 parts", async () => {
  let seed = 1;
  const word = (): string => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return `${(seed % 20_000).toString(36)}${seed % 7}`;
  };
  const words = (count: number): string => Array.from({ length: count }, word).join(" ");
  const body = words(3_300_000);
  const headers = { "content-type": "text/plain" };
  const put = await worker.fetch("/v1/collections/many/documents/words", {
    method: "PUT",
    headers,
    body,
  });
  expect(await put.json()).toMatchObject({ chunks: expect.toSatisfy((count) => count > 9_000) });
  const made = await worker.fetch("/v1/teams", jsonInit({ component: READER }));
  const { id } = (await made.json()) as { id: string };
  const run = worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: words(75_000) }));
  expect(await longestWait(run, "/v1/collections/many")).toBeLessThan(MOST_WAIT_MS);
  expect(await (await run).json()).toMatchObject({ status: "completed" });
});
