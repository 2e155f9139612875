import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type StreamItem, TroupeClient } from "troupe/client";
import { expectSentence, SENTENCE, speaker } from "../client/support/speaker.ts";
import { Chat, Stage } from "../react/support/stage.ts";
import { openTab, startBrowser, testInBrowser } from "../support/browser.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { type RunningProcess, runningProcesses } from "../support/programs.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { PATIENCE } from "../support/patience.ts";

/** A machine may be busy. */
const BACK = { timeout: 60_000, interval: 20 };

let persistTo: string;
let port: number;

beforeEach(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-crash-"));
  port = await freePort();
});

afterEach(() => rmSync(persistTo, { recursive: true, force: true }));

/** Wrangler of this test's server, among all processes. */
function wrangler(processes = runningProcesses()): RunningProcess | undefined {
  return processes.find(
    ({ pid, group, command }) => pid === group && command.includes(`--persist-to ${persistTo} `),
  );
}

/** The runtime of its Worker, once there is one other than the last. */
function runtime(last = 0): Promise<number> {
  const found = (): number | undefined => {
    // Read once: this process also serves the model, which waits meanwhile.
    const processes = runningProcesses();
    const leader = wrangler(processes);
    return processes.find(
      ({ pid, group, command }) =>
        pid !== last && group === leader?.group && / serve .*--control-fd/.test(command),
    )?.pid;
  };
  return vi.waitUntil(found, PATIENCE);
}

/** SIGKILL. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  await vi.waitUntil(() => !runningProcesses().some((one) => one.pid === pid), PATIENCE);
}

/** Waits for the first answer of 200. @returns all other answers before it, and those of requests that broke */
async function back(url: string): Promise<string[]> {
  const other: string[] = [];
  await vi.waitUntil(async () => {
    for (const init of [{}, jsonInit({ component: SAMPLE_COMPONENT })]) {
      const path = "body" in init ? "/v1/components/validate" : "/v1/teams";
      const response = await fetch(`${url}${path}`, init);
      const { status, headers } = response;
      await response.text();
      if (status === 200) continue;
      other.push([status, headers.get("content-type"), headers.get("retry-after")].join(" "));
      return false;
    }
    return true;
  }, PATIENCE);
  return other;
}

const UNAVAILABLE = "503 application/problem+json 1";

test("requests get 503 with Retry-After while a crashed runtime is restarted, and clients continue", async () => {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", hold: true, hold_after: [15], reply: { content: SENTENCE } }],
  });
  await using server = await NpmStart.ready({ port, persistTo });
  const client = new TroupeClient({ baseURL: server.url });
  const team = await client.teams.create({ component: speaker(fake.url) });
  const watched: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const item of team.events({ signal: stop.signal })) watched.push(item.kind);
  })().catch((error: unknown) => watched.push(String(error)));
  const changes: string[] = [];
  const listing = (async () => {
    for await (const { kind } of client.events({ signal: stop.signal })) changes.push(kind);
  })().catch((error: unknown) => changes.push(String(error)));

  const items: StreamItem[] = [];
  let killed = false;
  for await (const item of team.run("Speak.")) {
    items.push(item);
    if (killed || item.kind !== "text" || item.text.content.length < 40) continue;
    killed = true;
    await kill(await runtime());
    fake.release("speak");
    const others = await back(server.url);
    expect(others.length).toBeGreaterThan(0);
    expect(new Set(others)).toEqual(new Set([UNAVAILABLE]));
  }
  expectSentence(items);
  await expect.poll(() => watched, BACK).toContain("result");
  await expect.poll(() => changes, BACK).not.toEqual([]);
  stop.abort();
  await Promise.all([watching, listing]);
  expect(watched.concat(changes).filter((text) => /ApiError|ConnectionError/.test(text))).toEqual(
    [],
  );
  expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
  expect(server.output).toContain("The Worker crashed and is restarting");
  // A recovery is not an error, and a file has no colours.
  expect(server.output).toMatch(/^\{"event":"run_recovered".*\}$/m);
  expect(server.output).not.toContain("\u001B");
});

test("a runtime that is killed while it is restarted comes back, with a wrangler of its own", async () => {
  await using server = await NpmStart.ready({ port, persistTo });
  const first = await runtime();
  const { pid: before } = wrangler()!;
  await kill(first);
  // Wrangler gives up when the next one does not come to listen.
  await kill(await runtime(first));
  expect(new Set(await back(server.url))).toEqual(new Set([UNAVAILABLE]));
  if (wrangler()?.pid !== before) {
    expect(server.output).toContain("The Worker crashed again before it answered.");
  }
});

test("a wrangler that is killed is started again", async () => {
  await using server = await NpmStart.ready({ port, persistTo });
  await kill(wrangler()!.pid);
  expect(new Set(await back(server.url))).toEqual(new Set([UNAVAILABLE]));
  expect(server.output).toContain("Wrangler exited (SIGKILL). Wrangler is restarted.");
});

testInBrowser(
  "an EventSource that reconnects while nothing restarts the Worker is held",
  async () => {
    await using server = await NpmStart.ready({ port, persistTo });
    const team = await new TroupeClient({ baseURL: server.url }).teams.create({
      component: speaker("http://127.0.0.1:9"),
    });
    const browser = await startBrowser();
    try {
      const page = await openTab(browser);
      await page.goto(`${server.url}/healthz`);
      const events = `/v1/teams/${team.id}/events`;
      let requests = 0;
      page.on("request", (request) => {
        if (request.url().endsWith(events)) requests++;
      });
      const streams = (): Promise<number[]> =>
        page.evaluate(() => (globalThis as unknown as { streams: number[] }).streams);
      await page.evaluate((path) => {
        const states: number[] = [];
        Object.assign(globalThis, { streams: states });
        const source = new EventSource(path);
        for (const name of ["error", "caught_up"]) {
          source.addEventListener(name, () => states.push(source.readyState));
        }
      }, events);
      await expect.poll(streams, BACK).toEqual([1]);
      const { pid } = wrangler()!;
      const worker = await runtime();
      process.kill(pid, "SIGSTOP");
      // It stays a zombie as long as its parent is stopped.
      process.kill(worker, "SIGKILL");
      await expect.poll(() => requests, BACK).toBe(2);
      process.kill(pid, "SIGCONT");
      // Open, lost, open; it is 2 once it has given up.
      await expect.poll(streams, BACK).toEqual([1, 0, 1]);
      expect(requests).toBe(2);
    } finally {
      await browser.close();
    }
  },
);

testInBrowser("a page of the hook continues after a crash in mid-sentence", async () => {
  await using stage = await Stage.start();
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", hold: true, hold_after: [15], reply: { content: SENTENCE } }],
  });
  const settings = { ALLOWED_ORIGINS: stage.origin };
  await using server = await NpmStart.ready({ port, persistTo, settings });
  const client = new TroupeClient({ baseURL: server.url });
  const team = await client.teams.create({ component: speaker(fake.url) });
  const { page } = await stage.show({ baseURL: server.url, teams: [team.id] });
  const chat = new Chat(page, team.id);
  await chat.status("idle");
  await chat.send("Speak.");
  await expect.poll(async () => (await chat.writing.textContent())?.length).toBeGreaterThan(40);
  await kill(await runtime());
  fake.release("speak");
  await chat.connected(false);
  await chat.connected(true);
  await chat.status("completed");
  await expect.poll(() => chat.messages.allTextContents()).toEqual(["Speak.", SENTENCE]);
});
