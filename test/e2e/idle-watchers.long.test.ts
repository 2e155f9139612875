// Pages that are open while nothing happens, in the Worker as it is deployed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { HUMAN, inTurn, newTeam } from "../api/protocols/support/teams.ts";
import { bearer, deployed } from "../api/protocols/support/access.ts";

const WATCHERS = 1_000;
const OPENED_AT_ONCE = 50;
/** Garbage is collected for each look. */
const LOOKED_AT = { interval: 1_000 };
const MOST = String(2 * WATCHERS);
/** Pings are 15 s apart. With the second, the end of the credential is waited for, or would be asked for again. */
const IDLE_PINGS = 2;
/** What the humans of the team say, each of them once. */
const ANSWERS = ["first", "second", "third"];

let worker: KillableWorker;

beforeAll(async () => {
  const limits = Object.fromEntries(
    ["PER_TEAM", "PER_TENANT", "PER_CREDENTIAL"].map((name) => [`TENANT_STREAMS_${name}`, MOST]),
  );
  worker = await KillableWorker.start(await deployed(limits), {
    entry: "test/e2e/worker/memory.ts",
    v8Flags: ["--expose-gc"],
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function post(tenant: string, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await worker.fetch(path, jsonInit(body, "POST", bearer(tenant)));
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, unknown>;
}

const CREDENTIALS = {
  "a team token": { path: (team: string) => `${team}/tokens`, input: {}, field: "token" },
  "a created key": { path: () => "/v1/keys", input: { name: "pages" }, field: "key" },
};

/** Makes a credential with which one may watch. */
async function credentialOf(
  tenant: string,
  team: string,
  kind: keyof typeof CREDENTIALS,
): Promise<{ credential: string; revoke(): Promise<void> }> {
  const { path: pathOf, input, field } = CREDENTIALS[kind];
  const path = pathOf(team);
  const rights = { scopes: ["teams:read", "runs:read"], expires_in: 3_600 };
  const made = await post(tenant, path, { ...rights, ...input });
  return {
    credential: String(made[field]),
    async revoke() {
      const init = { method: "DELETE", headers: bearer(tenant) };
      const { status } = await worker.fetch(`${path}/${String(made["id"])}`, init);
      expect(status).toBe(204);
    },
  };
}

interface Memory {
  starts: Record<string, number>;
  loaded: string[];
}

async function memory(): Promise<Memory> {
  return (await (await worker.fetch("/memory")).json()) as Memory;
}

/** The client of one stream. */
class Watcher {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  pings = 0;
  /** What was recorded, as it came. */
  readonly recorded: string[] = [];

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(path: string, credential: string): Promise<Watcher> {
    const response = await worker.fetch(path, { headers: bearer(credential) });
    if (response.status !== 200 || response.body === null) throw new Error(await response.text());
    return new Watcher(response.body);
  }

  /** Resolves when it has been idle for some time. */
  async idle(): Promise<void> {
    const pings = this.pings + IDLE_PINGS;
    await this.until(() => this.pings >= pings);
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`the stream ended after ${this.recorded.length} events`);
      const frames = (this.#rest + value).split("\n\n");
      this.#rest = frames.pop() ?? "";
      for (const frame of frames) {
        if (frame === ": ping") this.pings++;
        if (/^id: /m.test(frame)) this.recorded.push(frame);
      }
    }
  }

  /** Resolves when the stream ends. */
  async ended(): Promise<void> {
    while (!(await this.#reader.read()).done);
  }
}

interface Run {
  id: string;
  status: string;
  requests: { id: string }[];
}

/** What the team's latest run asks, other than what was asked before. */
async function questionAfter(before: string, tenant: string, team: string): Promise<string> {
  const question = async (): Promise<string> => {
    const response = await worker.fetch(`${team}/runs`, { headers: bearer(tenant) });
    const [run] = ((await response.json()) as { runs: Run[] }).runs;
    return run?.requests[0]?.id ?? before;
  };
  await expect.poll(question).not.toBe(before);
  return question();
}

interface Stream {
  what: string;
  tenant: string;
  team: string;
  /** The name of the object that its watchers are connected to. */
  object: string;
  kind: keyof typeof CREDENTIALS;
  path: (run: string) => string;
  /** Whether the event says that the question was answered with this text. */
  isAnswer: (event: string, answered: { question: string; text: string }) => boolean;
  /** Whether the run ends with the event. */
  isEnd: (event: string, run: string) => boolean;
}

const ofTeam = {
  tenant: "globex",
  isAnswer: (event, { text }) => event.includes(`"content":"${text}"`),
  isEnd: (event) => event.includes('"type":"TaskResult"'),
} satisfies Partial<Stream>;
const streams: Stream[] = [
  {
    ...ofTeam,
    what: "a team",
    team: "desk",
    object: "globex/desk",
    kind: "a team token",
    path: () => "/v1/teams/desk/events",
  },
  {
    ...ofTeam,
    what: "a run",
    team: "counter",
    object: "globex/counter",
    kind: "a created key",
    path: (run) => `/v1/teams/counter/runs/${run}/events`,
  },
  {
    what: "the tenant's lists",
    tenant: "acme",
    team: "desk",
    object: "acme",
    kind: "a created key",
    path: () => "/v1/events",
    isAnswer: (event, { question }) =>
      event.startsWith("event: request_closed") && event.includes(question),
    isEnd: (event, run) =>
      event.startsWith("event: run\n") && event.includes(run) && event.includes('"completed"'),
  },
];

test.concurrent.each(streams)(
  `${WATCHERS} watchers of $what with $kind leave its object unloaded, get each event once, in order, and end with the credential`,
  async ({ tenant, team: id, path, object, kind, isAnswer, isEnd }) => {
    const humans = ANSWERS.map((name) => ({ ...HUMAN, config: { ...HUMAN.config, name } }));
    await newTeam(worker, { id, component: inTurn(...humans) }, bearer(tenant));
    const team = `/v1/teams/${id}`;
    const { credential, revoke } = await credentialOf(tenant, team, kind);
    const run = String((await post(tenant, `${team}/runs`, { task: "Ask." }))["id"]);
    const watchers: Watcher[] = [];
    while (watchers.length < WATCHERS) {
      const opened = Array.from({ length: OPENED_AT_ONCE }, () =>
        Watcher.open(path(run), credential),
      );
      watchers.push(...(await Promise.all(opened)));
    }
    await watchers.at(-1)?.idle();
    const all = (isThere: (event: string) => boolean) =>
      Promise.all(watchers.map((watcher) => watcher.until(() => watcher.recorded.some(isThere))));
    let question = "";
    for (const text of ANSWERS) {
      question = await questionAfter(question, tenant, team);
      await expect.poll(async () => (await memory()).loaded, LOOKED_AT).not.toContain(object);
      const { starts } = await memory();
      if (text === ANSWERS[0]) {
        await watchers.at(-1)?.idle();
        expect((await memory()).starts[object]).toBe(starts[object]);
      }
      await post(tenant, `${team}/runs/${run}/requests/${question}`, { content: text });
      await all((event) => isAnswer(event, { question, text }));
      expect((await memory()).starts[object]).toBe(Number(starts[object]) + 1);
    }
    await all((event) => isEnd(event, run));
    const seen = watchers.map(({ recorded }) =>
      recorded.slice(0, recorded.findIndex((event) => isEnd(event, run)) + 1),
    );
    const [expected = []] = seen;
    const ids = expected.map((event) => Number(/^id: (\d+)$/m.exec(event)?.[1]));
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(seen.filter((one) => one.join() !== expected.join())).toEqual([]);
    await revoke();
    await Promise.all(watchers.map((watcher) => watcher.ended()));
  },
);
