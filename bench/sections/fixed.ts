import { Api, FRESH } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import type { Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { receive } from "../support/stream-client.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { startWorkerd } from "../support/workerd.ts";

const ROUNDS = 9;
/** Conversations per round, one after the other. */
const CONVERSATIONS = 40;
/** Rounds until the compiler has settled. */
const WARM_UP = 12;
const SHORT = "burst-10";
/** Conversations that start at once, and tokens of the reply of each. */
const AT_ONCE = 50;
const BURST = "burst-200";
const BURST_ROUNDS = 15;
/** Work after a response, such as the report to the tenant, is included. */
const SETTLE_MS = 60;

/** A conversation that is not created yet. */
interface Conversation {
  create(): Promise<void>;
  /** Starts a run and opens its stream. */
  run(): Promise<Response>;
}

/** Makes a conversation. The name of its model says how it streams: see `bench/support/upstream.ts`. */
type Kind = (model: string) => Conversation;
type KindName = "bare" | "team";

const STEPS = ["create", "first run", "later run"] as const;
type Step = (typeof STEPS)[number];
/** How many times the CPU of the bare object a team may use. */
const MOST_TIMES: Record<Step, number> = { create: 3, "first run": 5, "later run": 4 };

/** CPU of creating a conversation and of a short run in it; time to the first token of many that start at once. */
export async function measure(): Promise<Report> {
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  const { url } = upstream.hello;
  using worker = await bundle("bench/worker/fixed.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject", BARE: "BareObject" },
    vars: { TROUPE_OPEN: "1", UPSTREAM: url, SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  await using workerd = await startWorkerd(worker);
  const kinds = { bare: bareKind(workerd.origin), team: teamKind(workerd.origin, url) };
  const cpu = await cpuPerStep(kinds, () => workerd.cpu());
  const burst = await firstTokens(kinds);

  const rows: Report["rows"][number][] = STEPS.map((step) => ({
    what: `${step}, ms of CPU`,
    "bare object": cpu.bare[step],
    team: cpu.team[step],
  }));
  for (const which of ["median", "last"] as const) {
    rows.push({
      what: `first token of ${AT_ONCE} first runs at once, ms, ${which}`,
      "bare object": burst.bare[which],
      team: burst.team[which],
    });
  }
  return {
    title: "Fixed cost of a team and of a run",
    method: `CPU time of workerd, all threads, per conversation: created, first run, second run, ${CONVERSATIONS} one after the other, ${SETTLE_MS} ms for what follows; the median of ${ROUNDS} rounds in which team and bare object take turns, after ${WARM_UP} to warm up. A run is one reply of ten tokens, streamed. At once: ${AT_ONCE} conversations that were just created start their first run, of 200 tokens; the median of ${BURST_ROUNDS} rounds.`,
    rows,
    goals: [
      ...STEPS.map((step) => ({
        what: step,
        value: cpu.team[step] / cpu.bare[step],
        unit: "times the CPU of the bare object",
        limit: { atMost: MOST_TIMES[step] },
      })),
      {
        what: `first token of ${AT_ONCE} first runs at once`,
        value: burst.team.median / burst.bare.median,
        unit: "times the bare object",
        limit: { atMost: 7 },
      },
    ],
  };
}

function teamKind(origin: string, upstream: string): Kind {
  const api = new Api(origin);
  return (model) => {
    let id = "";
    return {
      create: async () => {
        id = await api.createTeam(streamingTeam(model, upstream));
      },
      run: () => api.stream(id, "Hello"),
    };
  };
}

function bareKind(origin: string): Kind {
  let count = 0;
  return (model) => {
    const url = `${origin}/bare/${count++}`;
    const send = (method: string, body: object): Promise<Response> =>
      fetch(url, {
        method,
        headers: { ...FRESH, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    return {
      create: async () => {
        await (await send("PUT", { model })).json();
      },
      run: () => send("POST", { task: "Hello" }),
    };
  };
}

async function cpuPerStep(
  kinds: Record<KindName, Kind>,
  cpu: () => number,
): Promise<Record<KindName, Record<Step, number>>> {
  const rounds = { bare: new Steps(), team: new Steps() };
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const [name, kind] of Object.entries(kinds) as [KindName, Kind][]) {
      const conversations = Array.from({ length: CONVERSATIONS }, () => kind(SHORT));
      for (const step of STEPS) {
        const before = cpu();
        for (const conversation of conversations) {
          if (step === "create") await conversation.create();
          else await receive(() => conversation.run(), "frame", false);
        }
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
        if (round >= WARM_UP) rounds[name].add(step, (cpu() - before) / CONVERSATIONS);
      }
    }
  }
  return { bare: rounds.bare.medians(), team: rounds.team.medians() };
}

/** The measurements of each step. */
class Steps {
  readonly #values: Record<Step, number[]> = { create: [], "first run": [], "later run": [] };

  add(step: Step, value: number): void {
    this.#values[step].push(value);
  }

  medians(): Record<Step, number> {
    return {
      create: median(this.#values.create),
      "first run": median(this.#values["first run"]),
      "later run": median(this.#values["later run"]),
    };
  }
}

interface FirstTokens {
  median: number;
  last: number;
}

async function firstTokens(kinds: Record<KindName, Kind>): Promise<Record<KindName, FirstTokens>> {
  const rounds: Record<KindName, FirstTokens[]> = { bare: [], team: [] };
  for (let round = 0; round < BURST_ROUNDS; round++) {
    for (const [name, kind] of Object.entries(kinds) as [KindName, Kind][]) {
      const conversations = Array.from({ length: AT_ONCE }, () => kind(BURST));
      for (const conversation of conversations) await conversation.create();
      const received = await Promise.all(
        conversations.map((conversation) => receive(() => conversation.run(), "frame", false)),
      );
      const first = received.map((stream) => stream.first);
      rounds[name].push({ median: median(first), last: Math.max(...first) });
    }
  }
  const middle = (name: KindName): FirstTokens => ({
    median: median(rounds[name].map((round) => round.median)),
    last: median(rounds[name].map((round) => round.last)),
  });
  return { bare: middle("bare"), team: middle("team") };
}
