import { setTimeout as sleep } from "node:timers/promises";
import { Api, FRESH } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import type { MeasureOptions, Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { startWorkerd } from "../support/workerd.ts";

const FULL = { streams: 50, tokens: 1000, rounds: 7, firsts: 60 };
const SMOKE = { streams: 2, tokens: 50, rounds: 1, firsts: 2 };
const SETTLING = 5;
/** Before a first token is measured. */
const PAUSE_MS = 50;

/** The request that starts a run of a team and streams it, by protocol. */
const REQUESTS: Record<string, (team: string) => { path: string; body: object }> = {
  native: (team) => ({ path: `/v1/teams/${team}/runs`, body: { task: "Hello" } }),
  "OpenAI chat completions": (team) => ({
    path: "/openai/v1/chat/completions",
    body: { model: `team:${team}`, stream: true, messages: [{ role: "user", content: "Hello" }] },
  }),
  "OpenAI responses": (team) => ({
    path: "/openai/v1/responses",
    body: { model: `team:${team}`, stream: true, input: "Hello" },
  }),
  "AG-UI": (team) => ({
    path: `/ag-ui/teams/${team}`,
    body: {
      threadId: team,
      runId: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: "user", content: "Hello" }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    },
  }),
  "AI SDK": (team) => ({
    path: `/ai-sdk/teams/${team}/chat`,
    body: {
      id: "chat",
      trigger: "submit-message",
      messages: [
        { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: "Hello" }] },
      ],
    },
  }),
  A2A: (team) => ({
    path: `/a2a/teams/${team}`,
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "SendStreamingMessage",
      params: {
        message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Hello" }] },
      },
    },
  }),
};

/** Text that the model server's first token has. */
const TOKEN = "word ";

/** What a stream costs in the words of another protocol. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const size = smoke ? SMOKE : FULL;
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  const { url } = upstream.hello;
  using worker = await bundle("src/service/worker.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  await using workerd = await startWorkerd(worker);
  const api = new Api(workerd.origin);
  const teams = (count: number, tokens: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, () => api.createTeam(streamingTeam(`burst-${tokens}`, url))),
    );

  const names = Object.keys(REQUESTS);
  const speeds = new Map<string, { perSecond: number; cpu: number }[]>();
  const firsts = new Map<string, number[]>();
  const [warm] = await teams(1, 20);
  for (let round = -SETTLING; round < size.firsts; round++) {
    for (const name of rotated(names, round)) {
      // What the last run left to do after its stream is not this one's.
      await sleep(PAUSE_MS);
      const { first } = await receive(workerd.origin, name, warm ?? "");
      if (round >= 0) add(firsts, name, first);
    }
  }
  for (let round = -1; round < size.rounds; round++) {
    for (const name of rotated(names, round)) {
      const ids = await teams(size.streams, size.tokens);
      const [started, used] = [performance.now(), workerd.cpu()];
      await Promise.all(ids.map((id) => receive(workerd.origin, name, id)));
      const count = size.streams * size.tokens;
      const speed = {
        perSecond: (count * 1000) / (performance.now() - started),
        cpu: ((workerd.cpu() - used) * 1000) / count,
      };
      if (round >= 0) add(speeds, name, speed);
    }
  }

  const middle = (name: string): { perSecond: number; cpu: number; first: number } => ({
    perSecond: median((speeds.get(name) ?? []).map(({ perSecond }) => perSecond)),
    cpu: median((speeds.get(name) ?? []).map(({ cpu }) => cpu)),
    first: median(firsts.get(name) ?? []),
  });
  const native = middle("native");
  return {
    title: "Protocols",
    method: `${size.streams} new teams with one assistant each stream ${size.tokens} tokens at once, started and read by the protocol named, in turn, another one first in each round; the median of ${size.rounds} rounds. The first token: one stream 50 ms after the other, of a team that has run before, the median of ${size.firsts}. The model server and the client share the two cores with workerd.`,
    rows: names.map((name) => {
      const { perSecond, cpu, first } = middle(name);
      return {
        protocol: name,
        "tokens/s": Math.round(perSecond),
        "times native": perSecond / native.perSecond,
        "CPU of workerd, µs per token": cpu,
        "first token, ms": first,
      };
    }),
    goals: names.slice(1).flatMap((name) => {
      const { perSecond, first } = middle(name);
      return [
        {
          what: `${name}: tokens per second, ${size.streams} at once`,
          value: perSecond / native.perSecond,
          unit: "times native",
          limit: { atLeast: 0.8 },
        },
        {
          what: `${name}: first token, after native`,
          value: first - native.first,
          unit: "ms",
          limit: { atMost: 1 },
        },
      ];
    }),
  };
}

/** Another name first in each round. */
function rotated(names: readonly string[], round: number): string[] {
  const first = ((round % names.length) + names.length) % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}

/** Starts a run and reads its stream to the end. @returns milliseconds to its first token */
async function receive(origin: string, name: string, team: string): Promise<{ first: number }> {
  const request = REQUESTS[name];
  if (request === undefined) throw new TypeError(`there is no protocol ${name}`);
  const { path, body } = request(team);
  const started = performance.now();
  const response = await fetch(origin + path, {
    method: "POST",
    headers: {
      ...FRESH,
      "content-type": "application/json",
      accept: "text/event-stream",
      "a2a-version": "1.0",
    },
    body: JSON.stringify(body),
  });
  if (!response.ok || response.body === null) {
    throw new Error(`${name}: ${response.status} ${await response.text()}`);
  }
  let first = 0;
  let last = "";
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    last = Buffer.from(part).toString("latin1");
    if (first === 0 && last.includes(TOKEN)) first = performance.now() - started;
  }
  if (first === 0) throw new Error(`${name}: no token came, but ${last.slice(0, 300)}`);
  return { first };
}

function add<T>(all: Map<string, T[]>, name: string, value: T): void {
  all.set(name, [...(all.get(name) ?? []), value]);
}
