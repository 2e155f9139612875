import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { type Message, type RunResult, type StreamItem, TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { TestWorker } from "../../support/worker.ts";
import { BrowserHost } from "../support/browser-host.ts";
import { type CaseInput, type CaseName, runCase } from "../support/cases.ts";
import { BadProxy, type Interference } from "../support/proxy.ts";
import { expectSentence, SENTENCE, speaker } from "../support/speaker.ts";
import { sampled } from "../../support/samples.ts";
import { PATIENCE } from "../../support/patience.ts";

const HUMAN = {
  provider: "RoundRobinGroupChat",
  config: {
    participants: [{ provider: "UserProxyAgent", config: { name: "human" } }],
    max_turns: 1,
  },
};

let fake: FakeOpenAI;
let browser: BrowserHost | undefined;
let worker: TestWorker;
let stranger: Server;
let client: TroupeClient;
let input: CaseInput;

beforeAll(async () => {
  fake = await startFakeOpenAI({
    rules: [
      { name: "refuse", match: { text: "Fail." }, fault: { kind: "status", status: 400 } },
      { name: "speak", pace_ms: 5, reply: { content: SENTENCE } },
    ],
  });
  browser = HAS_BROWSER && inject("allCases") ? await BrowserHost.start() : undefined;
  worker = await TestWorker.start(
    {
      SECRETS_KEY: btoa("k".repeat(32)),
      ...(browser && { ALLOWED_ORIGINS: browser.origin }),
    },
    {
      quietAbout: "Fake error 400",
      ...(inject("allCases") && { entry: "test/client/worker/main.ts" }),
    },
  );
  stranger = createServer((request, response) => {
    response.writeHead(request.url === "/v1/whoami" ? 404 : 200, {
      "content-type": "text/html",
      "access-control-allow-origin": "*",
    });
    response.end("<p>Welcome.</p>");
  });
  await once(stranger.listen(0, "127.0.0.1"), "listening");
  const baseURL = await worker.origin;
  client = new TroupeClient({ baseURL });
  input = {
    baseURL,
    speaker: speaker(fake.url),
    human: HUMAN,
    stranger: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`,
  };
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await worker[Symbol.asyncDispose]();
  stranger.close();
  await fake.close();
});

type Host = (name: CaseName, given: CaseInput) => Promise<unknown>;

/** A Worker that uses the client in a request of its own. */
async function inWorkerd(name: CaseName, given: CaseInput): Promise<unknown> {
  const body = JSON.stringify({ name, input: given });
  const response = await worker.fetch("/cases", { method: "POST", body });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function inBrowser(name: CaseName, given: CaseInput): Promise<unknown> {
  return browser?.run(name, given);
}

interface ClientHost {
  host: string;
  run: Host;
  declare: typeof testInBrowser;
}

/** A browser takes long to start, and a Worker with the client is built for this file alone. */
const OTHER_HOSTS: readonly ClientHost[] = [
  { host: "a Worker", run: inWorkerd, declare: test },
  { host: "a browser", run: inBrowser, declare: testInBrowser },
];

const HOSTS: readonly ClientHost[] = [
  { host: "Node", run: runCase, declare: test },
  ...(inject("allCases") ? OTHER_HOSTS : []),
];

const INTERFERENCES: readonly [string, Interference][] = [
  ["cuts", { cutAfter: 700 }],
  ["delays", { delayMs: 3 }],
  ["doubles", { doubles: true }],
  ["cuts and doubles", { cutAfter: 1500, doubles: true }],
  ["loses the first answers", { loses: 2 }],
];

interface Ran {
  items: StreamItem[];
  messages: Message[];
  texts: unknown[];
  status: string;
  runs: number;
}

describe.each(HOSTS)("the client in $host", ({ run, declare }) => {
  /** Fails unless the run was seen completely, each item once. */
  function expectRun({ items, messages, texts, status, runs }: Ran): void {
    expectSentence(items);
    expect(items.filter(({ kind }) => kind === "message")).toHaveLength(2);
    expect(items.filter(({ kind }) => kind === "result")).toHaveLength(1);
    expect(items.at(-1)).toMatchObject({ kind: "result", result: { stop_reason: null } });
    expect(messages).toMatchObject([
      { source: "user", content: "Speak." },
      { source: "speaker", content: SENTENCE },
    ]);
    expect({ texts, status, runs }).toEqual({ texts: [], status: "completed", runs: 1 });
  }

  declare("a run's items end with its result", async () => {
    expectRun((await run("run", input)) as Ran);
  });

  for (const [name, interference] of sampled(INTERFERENCES)) {
    declare(`a proxy that ${name} changes nothing`, async () => {
      await using proxy = await BadProxy.start(input.baseURL, interference);
      expectRun((await run("run", { ...input, baseURL: proxy.origin })) as Ran);
      expect(proxy.requests).toBeGreaterThan(2);
    });
  }

  declare("the run continues after its loop is left, and can be watched again", async () => {
    const { messages } = (await run("leave", input)) as RunResult;
    expect(messages.at(-1)).toMatchObject({ content: SENTENCE });
  });

  declare("an aborted signal ends the loop", async () => {
    const { kinds, name } = (await run("abort", input)) as { kinds: string[]; name: string };
    expect(kinds.filter((kind) => kind === "text")).toHaveLength(1);
    expect(name).toBe("AbortError");
  });

  declare("a question is answered while the stream waits", async () => {
    const { messages } = (await run("answer", input)) as RunResult;
    expect(messages.at(-1)).toMatchObject({ source: "human", content: "Yes." });
  });

  declare("a run that fails or is cancelled throws, with its code", async () => {
    expect(await run("failures", input)).toEqual({
      failed: { name: "RunError", code: "model_bad_request", run: "failed" },
      cancelled: { name: "RunError", code: "cancelled", run: "cancelled" },
    });
  });

  declare("a refusal has the problem's code, and a failed connection its own", async () => {
    const unreachable = { name: "ConnectionError", code: "connection_failed" };
    expect(await run("refusals", input)).toEqual({
      template: { name: "ApiError", code: "unknown_template", status: 422 },
      absent: { name: "ApiError", code: "team_not_found", status: 404 },
      refused: { name: "ApiError", code: "unexpected_response", status: 404 },
      nobody: unreachable,
      html: unreachable,
      tokenless: unreachable,
    });
  });

  declare("a page where a stream should be is not a connection", async () => {
    expect(await run("stranger", input)).toEqual({
      error: { name: "ConnectionError", code: "connection_failed" },
      states: [],
    });
  });

  declare("a team's events and those of all lists stay open", async () => {
    const { kinds, listed, states } = (await run("events", input)) as {
      [list in "kinds" | "listed" | "states"]: string[];
    };
    expect(kinds.filter((kind) => kind !== "activity")).toEqual(["message", "run", "turn"]);
    expect(listed).toEqual(expect.arrayContaining(["request", "request_closed", "run"]));
    expect(states.slice(0, 2)).toEqual(["open", "live"]);
  });
});

test("a refusal names the places", async () => {
  const refused = client.teams.create({ template: "x", id: "not an id" });
  await expect(refused).rejects.toMatchObject({
    problem: { errors: [{ path: "id" }] },
    message: expect.stringMatching(/^.+\nid .+/s) as string,
  });
});

test("the client handles teams, forks, states, schedules, keys and lists", async () => {
  const team = await client.teams.create({ component: HUMAN, label: "Client" });
  expect(await team.get()).toMatchObject({ id: team.id, label: "Client", status: "idle" });
  const run = await team.start("Ask me.");
  expect(run).toMatchObject({ team_id: team.id });
  const [request] = await waitForRequest(team.id, run.id);
  await whenListed(async () => {
    expect(await client.requests.list()).toMatchObject({ requests: [{ team_id: team.id }] });
  });
  await team.answer(run.id, request?.id ?? "", { content: "Yes." });
  expect((await team.watch(run.id).result()).messages).toHaveLength(3);
  expect((await team.messages({ limit: 1 })).messages).toHaveLength(1);
  const state = await team.saveState();
  const fork = await team.fork();
  expect(await fork.get()).toMatchObject({ forked_from: { team_id: team.id } });
  await fork.loadState(state);
  await fork.reset();
  const schedule = await team.createSchedule({ cron: "0 8 * * *", task: "Wake up." });
  await team.changeSchedule(schedule.id, { enabled: false });
  expect(await team.schedule(schedule.id)).toMatchObject({ enabled: false });
  await team.deleteSchedule(schedule.id);
  expect((await team.schedules()).schedules).toEqual([]);
  await whenListed(async () => {
    expect((await client.teams.list({ limit: 1 })).teams).toHaveLength(1);
    expect((await client.runs.list({ team: team.id })).runs).toHaveLength(1);
  });
  expect(await client.usage({ by: "team" })).toMatchObject({ total: {} });
  expect(await client.whoami()).toMatchObject({ kind: "local" });
  expect(await client.components()).toContainEqual(
    expect.objectContaining({
      provider: "autogen_agentchat.teams.Swarm",
      config: expect.objectContaining({ required: ["participants"] }),
    }),
  );
  const key = await client.keys.create({ name: "from the client" });
  expect((await client.keys.list()).keys).toMatchObject([{ id: key.id }]);
  await client.keys.revoke(key.id);
  await team.delete();
  await expect(team.get()).rejects.toMatchObject({ code: "team_not_found" });
});

/** Lists over all teams follow the teams; at the latest after 15 s they show what has happened. */
function whenListed(shown: () => Promise<void>): Promise<void> {
  return vi.waitFor(shown, PATIENCE);
}

async function waitForRequest(team: string, run: string): Promise<{ id: string }[]> {
  for await (const item of client.team(team).watch(run)) {
    if (item.kind === "run" && item.run.requests.length > 0) return item.run.requests;
  }
  throw new Error("the run asked nothing");
}
