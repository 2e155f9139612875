import { setTimeout as sleep } from "node:timers/promises";
import { PEERS_INSTALLED } from "../conversation/all-peers.ts";
import { type StreamRequest, Readers, type Delays } from "../load/readers.ts";
import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode, type NodeChild } from "../support/child.ts";
import type { Goal, MeasureOptions, Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { startWorkerd, type Workerd } from "../support/workerd.ts";

const WATCHERS = 1_000;
/** Opened before memory is looked at: buffers of the process grow with the first ones. */
const FIRST = 100;
/** Milliseconds between tokens, so that each is alone on its way. */
const WATCHED_EVERY_MS = 250;
const WATCHED_MS = 5_000;

/** Teams that stream at once, a token every 20 ms each. */
const TEAMS = [50, 100, 200, 300, 500];
const EVERY_MS = 20;
const MEASURED_MS = 5_000;
/** Between two runs that are started, so that the starts do not count. */
const START_MS = 20;
const SETTLE_MS = 1_000;
const LASTS_MS = 300_000;
/** Above it, more teams are not tried. */
const TOO_SLOW_MS = 2_000;
const P99_MS = 100;

interface Size {
  watchers: number;
  first: number;
  watchedMs: number;
  teams: readonly number[];
  measuredMs: number;
}

const SMOKE: Size = { watchers: 20, first: 5, watchedMs: 1_000, teams: [5], measuredMs: 1_000 };

/** Those who watch or stream: a team, or a bare object. */
type Way = "team" | "bare" | "sockets" | "agents";
const NAMES: Record<Way, string> = {
  team: "Troupe",
  bare: "a bare Durable Object",
  sockets: "a bare Durable Object over hibernating sockets",
  agents: "an agent of `agents` over its hibernating sockets",
};

/** Many watchers of one team; many teams that stream at once. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const size: Size = smoke
    ? SMOKE
    : {
        watchers: WATCHERS,
        first: FIRST,
        watchedMs: WATCHED_MS,
        teams: TEAMS,
        measuredMs: MEASURED_MS,
      };
  const rows: Report["rows"][number][] = [];
  const goals: Goal[] = [];
  const reached: { [way in Way]?: number } = {};
  let ofSockets = 1;
  const ways = [
    "bare",
    "sockets",
    ...(PEERS_INSTALLED ? (["agents"] as const) : []),
    "team",
  ] as const;
  for (const way of ways) {
    const { kilobytes, ...loads } = await watched(way, size);
    reached[way] = median(loads.delays.reachedAll);
    rows.push({
      what: `${size.watchers} watchers of one`,
      through: NAMES[way],
      ...shown(loads),
      "CPU per token and watcher, ms": perToken(loads),
      "KB per watcher": kilobytes,
    });
    if (way === "sockets") ofSockets = kilobytes;
    if (way !== "team") continue;
    goals.push(
      {
        what: `a token reaches ${size.watchers} watchers, times a bare object over sockets`,
        value: (reached.team ?? 0) / (reached.sockets ?? 1),
        unit: "times",
        limit: { atMost: 1.5 },
      },
      {
        what: "memory per idle watcher",
        value: kilobytes / ofSockets,
        unit: "times a bare object over sockets",
        limit: { atMost: 1.3 },
      },
    );
  }
  const most = { team: 0, bare: 0 };
  for (const way of ["team", "bare"] as const) {
    for (const teams of size.teams) {
      const loads = await streaming(way, teams, size.measuredMs);
      rows.push({
        what: `${teams} stream at once`,
        through: NAMES[way],
        ...(loads === undefined ? { "delay, ms": "more than 30 s to start" } : shown(loads)),
      });
      if (loads === undefined) break;
      if (loads.delays.p99 <= P99_MS) most[way] = teams;
      if (loads.delays.p99 > TOO_SLOW_MS) break;
    }
  }
  goals.push({
    what: `teams that stream at once with a p99 of at most ${P99_MS} ms`,
    value: most.team / most.bare,
    unit: "times the bare objects",
    limit: { atLeast: 1 },
  });
  return {
    title: "Watchers, and many streams at once",
    method: `Watchers hold a stream of one team's events, all of them in one other process; over hibernating sockets the Worker passes on what a socket brings; a model's reply of a token every ${WATCHED_EVERY_MS} ms is shown to all. Memory is that of workerd before and after ${size.watchers} watchers, of which ${size.first} were open before. Then teams stream, each to a client of its own, ${1000 / EVERY_MS} tokens a second each. Delays are from the model server's write to the reader. Model server, runtime and reader are processes of their own, which share the machine: the columns of cores say how much of it each needs, and a process with one thread that needs a whole core is what limits.`,
    rows,
    goals,
  };
}

interface Loads {
  delays: Delays;
  tokensPerSecond: number;
  /** Cores that were busy with it. */
  workerd: number;
  upstream: number;
}

/** Milliseconds of workerd's CPU for each token that a reader got. */
function perToken({ workerd, tokensPerSecond }: Loads): number {
  return (workerd * 1000) / tokensPerSecond;
}

function shown({ delays, tokensPerSecond, workerd, upstream }: Loads): Report["rows"][number] {
  const { reachedAll } = delays;
  return {
    "tokens/s read": Math.round(tokensPerSecond),
    "delay, ms": delays.median,
    "p99, ms": delays.p99,
    "until all have it, ms": reachedAll.length > 0 ? median(reachedAll) : "",
    "cores: workerd": workerd,
    "model server": upstream,
    reader: delays.cpu,
  };
}

const OURS = {
  entry: "bench/worker/watchers.ts",
  objects: {
    TEAM: "TeamObject",
    TENANT: "TenantObject",
    BARE: "BareObject",
    ROOM: "BareRoom",
    SOCKETS: "BareSockets",
  },
};
const AGENTS = { entry: "bench/peers/agents-watchers/worker.ts", objects: { ROOM: "Room" } };

/** A model server, a runtime and a reader, each in a process of its own. */
class Stage implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly upstream: NodeChild<{ url: string }>;
  readonly workerd: Workerd;
  readonly readers: Readers;
  readonly api: Api;

  private constructor(
    stack: AsyncDisposableStack,
    upstream: NodeChild<{ url: string }>,
    workerd: Workerd,
    readers: Readers,
  ) {
    this.#stack = stack;
    this.upstream = upstream;
    this.workerd = workerd;
    this.readers = readers;
    this.api = new Api(workerd.origin);
  }

  static async start(way: Way): Promise<Stage> {
    const stack = new AsyncDisposableStack();
    const upstream = stack.use(await startNode<{ url: string }>(UPSTREAM, []));
    const { entry, objects } = way === "agents" ? AGENTS : OURS;
    const vars = {
      TROUPE_OPEN: "1",
      UPSTREAM: upstream.hello.url,
      SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    const worker = stack.use(await bundle(entry, { objects, vars }));
    const workerd = stack.use(await startWorkerd(worker));
    const readers = stack.use(await Readers.start(workerd.origin));
    return new Stage(stack, upstream, workerd, readers);
  }

  /** Measures what is under way. */
  async measure(ms: number): Promise<Loads> {
    const [started, workerd, upstream] = [
      performance.now(),
      this.workerd.cpu(),
      this.upstream.cpu(),
    ];
    const delays = await this.readers.measure(ms);
    const elapsed = performance.now() - started;
    return {
      delays,
      tokensPerSecond: (delays.tokens * 1000) / ms,
      workerd: (this.workerd.cpu() - workerd) / elapsed,
      upstream: (this.upstream.cpu() - upstream) / elapsed,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** A model that still streams when the measurement has ended, however long everything takes to start. */
function modelOf(everyMs: number): string {
  return `paced-${Math.ceil(LASTS_MS / everyMs)}-${everyMs}`;
}

const PATHS: Record<Way, (name: string) => string> = {
  team: (name) => `/v1/teams/${name}/events`,
  bare: (name) => `/rooms/${name}`,
  sockets: (name) => `/sockets/${name}`,
  agents: (name) => `/agents/${name}`,
};

/** Watchers of one team that are idle, and then see what a model says. */
async function watched(
  way: Way,
  { watchers, first, watchedMs }: Size,
): Promise<Loads & { kilobytes: number }> {
  await using stage = await Stage.start(way);
  const { api, readers, workerd, upstream } = stage;
  const model = modelOf(WATCHED_EVERY_MS);
  const team =
    way === "team" ? await api.createTeam(streamingTeam(model, upstream.hello.url)) : "watched";
  const path = PATHS[way](team);
  const open = async (count: number): Promise<void> => {
    const opened = await readers.open(
      Array.from({ length: count }, () => ({ method: "GET" as const, path, headers: {} })),
      1,
    );
    if (!opened) throw new Error(`${count} watchers could not be connected`);
  };
  await open(first);
  await sleep(SETTLE_MS);
  const before = workerd.memory();
  await open(watchers - first);
  await sleep(SETTLE_MS);
  const kilobytes = (workerd.memory() - before) / (watchers - first) / 1000;
  if (way === "team") await api.start(team, "Hello");
  else await fetch(workerd.origin + path, { method: "POST", body: model });
  await sleep(SETTLE_MS);
  const loads = await stage.measure(watchedMs);
  return { ...loads, kilobytes };
}

/** Teams, or bare objects, that stream at once; undefined if they cannot all be started. */
async function streaming(way: Way, count: number, measuredMs: number): Promise<Loads | undefined> {
  await using stage = await Stage.start(way);
  const { api, readers, upstream } = stage;
  const model = modelOf(EVERY_MS);
  const requests: StreamRequest[] = [];
  for (let index = 0; index < count; index++) {
    requests.push(
      way === "team"
        ? runRequest(await api.createTeam(streamingTeam(model, upstream.hello.url)))
        : { method: "GET", path: `/bare?model=${model}`, headers: {} },
    );
  }
  if (!(await readers.open(requests, START_MS))) return undefined;
  await sleep(SETTLE_MS);
  return await stage.measure(measuredMs);
}

function runRequest(team: string): StreamRequest {
  return {
    method: "POST",
    path: `/v1/teams/${team}/runs`,
    headers: { accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ task: "Hello" }),
  };
}
