import { setTimeout as sleep } from "node:timers/promises";
import { dumpComponent, RoundRobinGroupChat, UserProxyAgent } from "troupe";
import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import { replayTeam } from "../support/replay-team.ts";
import { type Goal, number, type Report } from "../support/report.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { startWorkerd, type Workerd } from "../support/workerd.ts";

/** What `test/e2e/worker/memory.ts` says. */
interface Memory {
  /** Milliseconds that each was set to. */
  timers: number[];
  requests: number;
  starts: Record<string, number>;
}

/** How often it is asked. */
const EVERY_MS = 20;
/** Nothing was left for so long. */
const QUIET_MS = 1_000;
const PATIENCE_MS = 90_000;
/** The runtime looks every 70 s for objects that were not asked for 70 s. */
const UNLOADED_MS = 150_000;
/** A model whose first token takes 3 to 6 s. */
const SLOW_MODEL = "paced-1-3000";
/** A model that streams for 2 s. */
const MODEL = "paced-40-50";

/** The runtime shows that a client has left when something is written: in the worst case at the second ping. */
const TWO_PINGS_MS = 31_000;
/** Reports of a run's end to the tenant, and of a stream's. */
const GONE_MS = 1_000;

/** How long objects stay in memory. */
export async function measure(): Promise<Report> {
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  using worker = await bundle("test/e2e/worker/memory.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  await using workerd = await startWorkerd(worker);
  const scene = new Scene(workerd, upstream.hello.url);
  await scene.warmUp();

  const rows: Report["rows"][number][] = [];
  const teams: { what: string; team: string; left: number; most: number }[] = [];
  // Alone one after the other, because the counts are those of the process.
  const add = async (what: string, act: () => Promise<string>, most = GONE_MS): Promise<void> => {
    const team = await act();
    teams.push({ what, team, left: await scene.untilQuiet(), most });
  };
  await add("a run has ended, its client waited", () => scene.run());
  await add("a run has ended, its client read the stream", () => scene.stream("end"));
  await add("a run has ended, its client left before", () => scene.stream("leave"));
  await add("a client has left that watched the team", () => scene.watch(), TWO_PINGS_MS);
  await add("a human thinks, nobody is connected", () => scene.ask());

  const model = await scene.whileModelThinks();
  // Last: the Worker's pings would count, too.
  const pages = [
    { what: "a human thinks, a client is connected", team: await scene.askWatched() },
    { what: "a client watches the team, and nothing happens", team: await scene.watched() },
  ];
  await sleep(UNLOADED_MS);
  const before = (await scene.memory()).starts;
  for (const { team } of [...teams, ...pages]) await scene.api.team(team);
  const after = (await scene.memory()).starts;
  const wasUnloaded = (team: string): boolean => {
    const starts = (counts: Record<string, number>): number => counts[`local/${team}`] ?? 0;
    return starts(after) > starts(before);
  };
  for (const { what, team, left } of teams) {
    rows.push({
      when: what,
      "under way meanwhile": "",
      "last timer or request of ours ends after, ms": left,
      "unloaded by workerd within 150 s": wasUnloaded(team) ? "yes" : "no",
    });
  }
  rows.push({ when: "a model is asked, nobody is connected", ...model });
  for (const { what, team } of pages) {
    rows.push({
      when: what,
      "under way meanwhile": "the Worker's pings",
      "unloaded by workerd within 150 s": wasUnloaded(team) ? "yes" : "no",
    });
  }
  const goals: Goal[] = teams.map(({ what, left, most }) => ({
    what: `${what}: what keeps the object`,
    value: left,
    unit: "ms",
    limit: { atMost: most },
  }));
  for (const { what, team } of pages) {
    goals.push({
      what: `${what}, for an hour: seconds billed after the first 15`,
      value: wasUnloaded(team) ? 0 : 3_600,
      unit: "s",
      limit: { atMost: 0 },
    });
  }
  return {
    title: "Time in memory",
    method: `Timers and requests under way in all objects of the process, counted by a Worker that wraps \`setTimeout\`, \`setInterval\` and \`fetch\`; a request counts until its answer begins. It is asked every ${EVERY_MS} ms without asking an object. What counts is when the last of them was gone for ${number(QUIET_MS)} ms. Then no request is sent for ${number(UNLOADED_MS / 1000)} s, and the next request shows whether the object was constructed again. An object that was unloaded while a page is open is not billed for the page.`,
    rows,
    goals,
  };
}

/** Brings teams into the situations, and sees what keeps them in memory. */
class Scene {
  readonly api: Api;
  readonly #workerd: Workerd;
  readonly #upstream: string;

  constructor(workerd: Workerd, upstream: string) {
    this.#workerd = workerd;
    this.#upstream = upstream;
    this.api = new Api(workerd.origin);
  }

  async memory(): Promise<Memory> {
    return (await (await fetch(`${this.#workerd.origin}/memory`)).json()) as Memory;
  }

  /** Milliseconds from now until nothing was left. @throws Error if something stays */
  async untilQuiet(): Promise<number> {
    const started = performance.now();
    let last = 0;
    for (;;) {
      const { timers, requests } = await this.memory();
      const now = performance.now() - started;
      if (timers.length > 0 || requests > 0) last = now;
      if (now - last > QUIET_MS) return last;
      if (now > PATIENCE_MS) throw new Error(`timers of ${timers.join(", ")} ms stay`);
      await sleep(EVERY_MS);
    }
  }

  async run(): Promise<string> {
    const team = await this.api.createTeam(dumpComponent(replayTeam(3, 10)));
    await this.api.run(team, "Begin.");
    return team;
  }

  /** A streamed run; resolves at its end. */
  async stream(how: "end" | "leave"): Promise<string> {
    const team = await this.api.createTeam(streamingTeam(MODEL, this.#upstream));
    const { body } = await this.api.stream(team, "Hello");
    if (how === "leave") {
      await body?.cancel();
      await this.#until(team, "idle");
    } else {
      for await (const _ of body ?? []);
    }
    return team;
  }

  async watch(): Promise<string> {
    const team = await this.run();
    const watcher = await this.api.watch(team);
    await sleep(QUIET_MS);
    await watcher.cancel();
    return team;
  }

  /** A client watches the team from now on. */
  async watched(): Promise<string> {
    const team = await this.run();
    stay(await this.api.watch(team));
    return team;
  }

  async ask(): Promise<string> {
    const team = await this.api.createTeam(this.#asking());
    await this.api.start(team, "Ask me.");
    await this.#until(team, "waiting");
    return team;
  }

  async askWatched(): Promise<string> {
    const team = await this.api.createTeam(this.#asking());
    const { body } = await this.api.stream(team, "Ask me.");
    await this.#until(team, "waiting");
    if (body !== null) stay(body);
    return team;
  }

  /** What keeps a team in memory while it waits for a model's first token, and after its end. */
  async whileModelThinks(): Promise<Report["rows"][number]> {
    const team = await this.api.createTeam(streamingTeam(SLOW_MODEL, this.#upstream));
    await this.api.start(team, "Hello");
    await sleep(QUIET_MS);
    const { timers, requests } = await this.memory();
    await this.#until(team, "idle");
    return {
      "last timer or request of ours ends after, ms": await this.untilQuiet(),
      "under way meanwhile": `${requests} requests, timers of ${timers.map(number).join(", ")} ms`,
    };
  }

  /** Runs each kind of team once: objects of the process that stay, and modules that are loaded. */
  async warmUp(): Promise<void> {
    await this.stream("end");
    await this.ask();
    await this.untilQuiet();
  }

  #asking(): object {
    return dumpComponent(new RoundRobinGroupChat([new UserProxyAgent({ name: "human" })]));
  }

  async #until(team: string, status: string): Promise<void> {
    while ((await this.api.team(team)).status !== status) await sleep(EVERY_MS);
  }
}

/** Reads a stream as long as the server is there. */
function stay(body: ReadableStream<Uint8Array>): void {
  void body.pipeTo(new WritableStream()).catch(() => undefined);
}
