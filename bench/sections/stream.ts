import { Api, FRESH } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import type { Report } from "../support/report.ts";
import { median, percentile } from "../support/statistics.ts";
import { type Received, receive } from "../support/stream-client.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { startWorkerd } from "../support/workerd.ts";

/**
 * Streams at once; the tokens of each in the measurement of speed; and every how many milliseconds one comes in that of
 * delays. Together 1,000 a second at most: some 4,000 keep one core busy, for the bare object as for the team.
 */
const LOADS = [
  { streams: 1, tokens: 10_000, rounds: 9, everyMs: 50 },
  { streams: 50, tokens: 1000, rounds: 7, everyMs: 50 },
  { streams: 200, tokens: 1000, rounds: 3, everyMs: 200 },
];
const PACED_TOKENS = 60;
/** First tokens, left out of the measurement: they show the cost of opening many streams at once. */
const SETTLING = 20;
const FIRST_ROUNDS = 60;

/** Ways a model's reply can take to the client: through a Worker, a bare object, a team. */
type Way = "pipe" | "bare" | "team";
const WAYS: readonly Way[] = ["pipe", "bare", "team"];

/** Speed and delays of streams through a team, against a Worker and a bare Durable Object in the same process. */
export async function measure(): Promise<Report> {
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  const { url } = upstream.hello;
  using worker = await bundle("bench/worker/stream.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject", BARE: "BareObject" },
    vars: { TROUPE_OPEN: "1", UPSTREAM: url, SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  await using workerd = await startWorkerd(worker);
  const ways = new Ways(workerd.origin, url);
  await ways.run("team", "burst-2000", 20);
  await ways.run("bare", "burst-2000", 20);

  const first = await firstTokens(ways);
  const rows: Report["rows"][number][] = [];
  const goals: Report["goals"][number][] = [
    {
      what: "first token of one stream",
      value: first.team / first.bare,
      unit: "times the bare object",
      limit: { atMost: 4 },
    },
  ];
  for (const load of LOADS) {
    const speed = await speeds(ways, load, () => workerd.cpu());
    const delay = await delays(ways, load);
    for (const way of WAYS) {
      rows.push({
        streams: load.streams,
        through: way,
        "tokens/s": Math.round(speed[way].perSecond),
        "CPU of workerd, µs per token": speed[way].cpu,
        "first token, ms": load.streams === 1 ? first[way] : "",
        "paced token, ms": delay[way].median,
        "95 of 100, ms": delay[way].high,
      });
    }
    goals.push(
      {
        what: `tokens per second, ${load.streams} at once`,
        value: speed.team.perSecond / speed.bare.perSecond,
        unit: "times the bare object",
        limit: { atLeast: load.streams === 1 ? 0.9 : 0.5 },
      },
      {
        what: `paced token, ${load.streams} at once, after the bare Worker's`,
        value: delay.team.median - delay.pipe.median,
        unit: "ms",
        limit: { atMost: 5 },
      },
    );
  }
  return {
    title: "Streams",
    method: `A model's reply on its way to the client: handed on by a Worker (pipe), parsed and written as frames by a bare Durable Object (bare), spoken by an assistant of a team that is created for it (team); in turn, in one workerd. The model server and the client are processes of their own and share the two cores with it. A delay of a paced token is from the model server's write to the client.`,
    rows,
    goals,
  };
}

/** Opens streams the three ways. A team object is made beforehand, as a bare one is loaded beforehand. */
class Ways {
  readonly #origin: string;
  readonly #upstream: string;
  readonly #api: Api;

  constructor(origin: string, upstream: string) {
    this.#origin = origin;
    this.#upstream = upstream;
    this.#api = new Api(origin);
  }

  /** Prepares the streams; the returned function opens them. */
  async prepare(way: Way, model: string, streams: number): Promise<() => Promise<Received[]>> {
    const opens: (() => Promise<Response>)[] = [];
    for (let index = 0; index < streams; index++) {
      opens.push(way === "team" ? await this.team(model) : () => this.open(way, model));
    }
    const timed = model.startsWith("paced");
    const kind = way === "pipe" ? "raw" : "frame";
    return () => Promise.all(opens.map((open) => receive(open, kind, timed)));
  }

  /** @param object the bare object that is asked; another one each time if left out */
  open(way: "pipe" | "bare", model: string, object?: string): Promise<Response> {
    const query = new URLSearchParams({ model, ...(object !== undefined && { object }) });
    return fetch(`${this.#origin}/${way}?${query.toString()}`, { headers: FRESH });
  }

  /** A new team, which opens a stream each time it is called. */
  async team(model: string): Promise<() => Promise<Response>> {
    const id = await this.#api.createTeam(streamingTeam(model, this.#upstream));
    return () => this.#api.stream(id, "Hello");
  }

  async run(way: Way, model: string, streams: number): Promise<Received[]> {
    return (await this.prepare(way, model, streams))();
  }
}

/** One stream after the other, of a team that has run before, as the bare object has. */
async function firstTokens(ways: Ways): Promise<Record<Way, number>> {
  const all: Record<Way, number[]> = { pipe: [], bare: [], team: [] };
  const team = await ways.team("burst-20");
  for (let round = -5; round < FIRST_ROUNDS; round++) {
    for (const way of WAYS) {
      const again = way === "team" ? () => team() : () => ways.open(way, "burst-20", "first");
      const { first } = await receive(again, way === "pipe" ? "raw" : "frame", false);
      if (round >= 0) all[way].push(first);
    }
  }
  return { pipe: median(all.pipe), bare: median(all.bare), team: median(all.team) };
}

interface Speed {
  perSecond: number;
  /** Microseconds per token. */
  cpu: number;
}

async function speeds(
  ways: Ways,
  { streams, tokens, rounds }: (typeof LOADS)[number],
  cpu: () => number,
): Promise<Record<Way, Speed>> {
  const all: Record<Way, Speed[]> = { pipe: [], bare: [], team: [] };
  for (let round = 0; round < rounds; round++) {
    for (const way of WAYS) {
      const open = await ways.prepare(way, `burst-${tokens}`, streams);
      const [started, used] = [performance.now(), cpu()];
      await open();
      const count = tokens * streams;
      all[way].push({
        perSecond: (count * 1000) / (performance.now() - started),
        cpu: ((cpu() - used) * 1000) / count,
      });
    }
  }
  const middle = (way: Way): Speed => ({
    perSecond: median(all[way].map(({ perSecond }) => perSecond)),
    cpu: median(all[way].map((speed) => speed.cpu)),
  });
  return { pipe: middle("pipe"), bare: middle("bare"), team: middle("team") };
}

async function delays(
  ways: Ways,
  { streams, everyMs }: (typeof LOADS)[number],
): Promise<Record<Way, { median: number; high: number }>> {
  const measured = async (way: Way): Promise<{ median: number; high: number }> => {
    const model = `paced-${PACED_TOKENS}-${everyMs}`;
    const received = (await ways.run(way, model, streams)).flatMap((stream) =>
      stream.delays.slice(SETTLING),
    );
    return { median: median(received), high: percentile(received, 0.95) };
  };
  return {
    pipe: await measured("pipe"),
    bare: await measured("bare"),
    team: await measured("team"),
  };
}
