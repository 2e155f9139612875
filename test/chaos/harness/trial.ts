import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, Message } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import type { Scenario } from "../scenarios/scenario.ts";
import { Api } from "./api.ts";
import { DiskView } from "./database.ts";
import { type Effect, EffectsServer } from "./effects-server.ts";
import { StepJournal } from "./journal.ts";
import { type Kill, nameOf } from "./kill.ts";
import type { Place } from "./place.ts";
import { SandboxGate } from "./sandbox-gate.ts";
import { readStream } from "./sse-client.ts";
import { StreamRecord } from "./stream-record.ts";
import { Supervisor } from "./supervisor.ts";
import { untilListed } from "./until-listed.ts";

/** Whether a client looks on: never before the end, up to the first kill, or coming back after each. */
export type Spectator = "absent" | "leaves" | "stays";
export const SPECTATORS: readonly Spectator[] = ["absent", "leaves", "stays"];

export interface TrialOptions extends Place {
  scenario: Scenario;
  plan: readonly Kill[];
  spectator: Spectator;
  /** Rules for the fake model before those of the scenario. */
  faults?: readonly RuleInput[];
  /** Called after each kill with what is on disk. */
  onDead?: (disk: DiskView) => void;
  /** Milliseconds that the run may take longer than others. */
  patience?: number;
}

/** How a run went that was killed on its way. */
export interface Outcome {
  run: RunInfo;
  /** The thread by `GET messages`. */
  messages: Message[];
  /** How many of them are older than the run. */
  before: number;
  /** All that was recorded, read in one go after the end. */
  replay: StreamRecord;
  /** The state after the run, as AutoGen would save it. */
  state: JsonObject;
  /** The frames that the spectator got. */
  seen: StreamRecord;
  requests: FakeOpenAI["requests"];
  effects: readonly Effect[];
  /** Labels of all writes and how often each occurred in the life of the first process. */
  writes: ReadonlyMap<string, number>;
  rows: Record<string, number>;
  killed: readonly Kill[];
  /** Steps that ran again though their result was recorded. */
  repeated: string[];
  problems: string[];
}

/** The heartbeat of a running team: what recovery waits for. In production it is many seconds. */
export const HEARTBEAT_MS = 250;
/** A run has stopped for good when it has not ended this long after its last kill, also on a machine that does much else. */
export const DEADLINE_MS = 240_000;
const POLL_MS = 8;

/** May do everything in every tenant. */
export const OPERATOR_KEY = "operator-of-the-harness";

/** Settings of the Worker. */
export const SETTINGS = {
  TROUPE_OPEN: "1",
  SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
  OPERATOR_KEY_HASH: createHash("sha256").update(OPERATOR_KEY).digest("hex"),
};
export const VAR_NAMES = [...Object.keys(SETTINGS), "EFFECTS_URL", "SANDBOX_URL", "SANDBOX_KEY"];

/** Runs a scenario once, killing the service where the plan says. No request is sent to help it recover. */
export async function trial(options: TrialOptions): Promise<Outcome> {
  const { scenario, faults = [] } = options;
  const failing = scenario.fails === undefined ? [] : [scenario.fails];
  await using fake = await startFakeOpenAI({ rules: [...faults, ...failing, ...scenario.rules] });
  const effects = new EffectsServer();
  await effects.listen();
  const sandbox = new SandboxGate(options.sandbox.url, effects);
  await sandbox.listen();
  const state = mkdtempSync(join(options.scratch, "state-"));
  const one = new Trial(options, fake, effects, sandbox, state);
  try {
    return await one.run();
  } finally {
    await one.supervisor.close();
    await effects.close();
    await sandbox.close();
    rmSync(state, { recursive: true, force: true });
  }
}

class Trial {
  readonly supervisor: Supervisor;
  readonly #options: TrialOptions;
  readonly #fake: FakeOpenAI;
  readonly #effects: EffectsServer;
  readonly #disk: DiskView;
  readonly #api: Api;
  readonly #writes = new Map<string, number>();
  readonly #journal = new StepJournal();
  readonly #problems: string[] = [];
  readonly #output: string[] = [];
  readonly #seen = new StreamRecord();
  #lastKill = performance.now();
  #end = (): void => {};
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(
    options: TrialOptions,
    fake: FakeOpenAI,
    effects: EffectsServer,
    sandbox: SandboxGate,
    state: string,
  ) {
    this.#options = options;
    this.#fake = fake;
    this.#effects = effects;
    this.#disk = new DiskView(state);
    this.supervisor = new Supervisor({
      config: options.config,
      state,
      vars: {
        ...SETTINGS,
        EFFECTS_URL: effects.url,
        SANDBOX_URL: sandbox.url,
        SANDBOX_KEY: options.sandbox.key,
      },
      heartbeatMs: HEARTBEAT_MS,
      plan: options.plan,
      fake,
      effects,
      onMarker: (marker) => {
        if (marker.kind === "recorded") this.#journal.add(marker.key, marker.result);
        if (marker.kind === "write" && this.supervisor.killed.length === 0)
          this.#writes.set(marker.label, marker.occurrence);
      },
      onOutput: (line) => this.#output.push(line),
      onKill: () => {
        this.#lastKill = performance.now();
      },
      onDead: () => options.onDead?.(this.#disk),
    });
    this.#api = new Api(
      () => this.supervisor.workerd.origin,
      () => this.supervisor.settled(),
    );
  }

  get #deadline(): number {
    return DEADLINE_MS + (this.#options.patience ?? 0);
  }

  async run(): Promise<Outcome> {
    const { scenario, plan } = this.#options;
    const { supervisor } = this;
    await supervisor.start();
    await this.#api.createTeam(
      scenario.component({ model: this.#fake.url, mcp: this.#effects.mcpUrl }),
    );
    const [accepted, before] = await this.#start();
    const note = (error: unknown): void => void this.#problems.push(String(error));
    const watching = this.#spectate(accepted.id).catch(note);
    const interfering = this.#interfere(accepted.id).catch(note);
    try {
      await this.#untilEnded(accepted.id);
    } catch (error) {
      const status = this.#disk.latestRun()?.status ?? "missing";
      const left = plan.slice(supervisor.killed.length).map(nameOf);
      this.#problems.push(
        `${String(error)} (status ${status}, open questions ${this.#disk.openQuestions().length}, rows ${JSON.stringify(this.#disk.rowCounts())}${left.length > 0 ? `, kills left: ${left.join(", ")}` : ""})`,
      );
    }
    const late = (): boolean => performance.now() - this.#lastKill > this.#deadline;
    this.#problems.push(...(await untilListed(this.#disk, late)));
    this.#end();
    await supervisor.calm();
    await interfering;
    const rows = this.#disk.rowCounts();
    await watching;
    const replay = new StreamRecord();
    const run = await this.#api.run(accepted.id);
    if (ENDED.has(run.status)) {
      await readStream(`${this.#api.teamUrl}/runs/${run.id}/events`, {
        onFrame: (frame) => replay.add(frame),
      });
    }
    const messages = await this.#api.messages();
    const saved = await this.#api.state();
    if (run.status === "cancelled" || run.status === "failed") await this.#runAgain();
    const unexpected = this.#output.filter((line) => !EXPECTED_OUTPUT.test(line));
    if (unexpected.length > 0) this.#problems.push(`printed: ${unexpected.slice(0, 8).join("\n")}`);
    return {
      run,
      messages,
      before,
      replay,
      state: saved,
      seen: this.#seen,
      requests: this.#fake.requests,
      effects: this.#effects.calls,
      writes: this.#writes,
      rows,
      killed: supervisor.killed,
      repeated: [
        ...this.#journal.repeatedRequests(this.#fake.requests),
        ...this.#journal.repeatedEffects(this.#effects.calls),
      ],
      problems: this.#problems,
    };
  }

  /** Starts the run to look at; says how many messages there were before. */
  async #start(): Promise<[run: RunInfo, before: number]> {
    const { task, fails, rules } = this.#options.scenario;
    const run = await this.#api.startRun(task);
    if (fails === undefined) return [run, 0];
    await this.#untilEnded(run.id);
    this.#fake.rules.set(rules);
    const before = (await this.#api.messages()).length;
    const retried = await this.#api.retry(run.id);
    this.#lastKill = performance.now();
    return [retried, before];
  }

  /** Watches the disk until the run has ended; answers questions, and resumes what was paused. */
  async #untilEnded(run: string): Promise<void> {
    const answers = answersOf(this.#options.scenario);
    const answered = new Set<string>();
    for (let version = ""; ;) {
      if (performance.now() - this.#lastKill > this.#deadline)
        throw new Error(`the run did not end within ${this.#deadline} ms after the last kill`);
      await sleep(POLL_MS);
      const present = this.#disk.version();
      if (present === version) continue;
      version = present;
      const stored = this.#disk.latestRun();
      if (stored?.id !== undefined && stored.id !== run)
        throw new Error(`the accepted run ${run} is gone, the latest is ${stored.id}`);
      if (stored !== undefined && ENDED.has(stored.status)) return;
      if (stored?.status === "paused") {
        await this.#api.resume(run);
        this.#lastKill = performance.now();
      }
      if (stored?.status !== "waiting" || answers === undefined) continue;
      for (const { id, kind, source } of this.#disk.openQuestions()) {
        if (answered.has(id)) continue;
        answered.add(id);
        const content = kind === "approval" ? "" : answers(source);
        if (content === undefined) continue;
        const answer: JsonObject = kind === "approval" ? { approved: true } : { content };
        await this.#api.answer(run, id, answer);
        this.#lastKill = performance.now();
      }
    }
  }

  /** A run that failed or was cancelled leaves the team usable. */
  async #runAgain(): Promise<void> {
    this.#fake.rules.set(this.#options.scenario.rules);
    const { id } = await this.#api.startRun("Once more.");
    this.#lastKill = performance.now();
    await this.#untilEnded(id);
    const { status, error } = await this.#api.run(id);
    if (status !== "completed")
      this.#problems.push(`a second run is ${status}: ${JSON.stringify(error)}`);
  }

  async #interfere(run: string): Promise<void> {
    const { stop, pause } = this.#options.scenario;
    const count = stop?.afterRequests ?? pause?.afterRequests;
    if (count === undefined) return;
    await this.#fake.log.until((requests) => requests.length >= count, this.#deadline);
    if (stop !== undefined) await this.#api.stop(run, stop.mode);
    else await this.#api.pause(run);
  }

  /** Looks on as the options say, and at last until the end of the stream. */
  async #spectate(run: string): Promise<void> {
    const { spectator } = this.#options;
    const seen = this.#seen;
    let connections = 0;
    while (!seen.ended) {
      if (spectator === "absent" || (spectator === "leaves" && connections > 0)) {
        await this.#ended;
      }
      if (connections > 0 && performance.now() - this.#lastKill > this.#deadline) return;
      connections++;
      await this.supervisor.settled();
      try {
        const status = await readStream(`${this.#api.teamUrl}/runs/${run}/events`, {
          ...(seen.cursor !== undefined && { lastEventId: seen.cursor }),
          onOpen: () => seen.connected(),
          onFrame: (frame) => seen.add(frame),
        });
        if (status === 204 && !seen.ended) {
          seen.problems.push("stream: 204 before the terminal frame was sent");
          return;
        }
      } catch {
        // The connection broke: the service died, or is not back yet.
        await sleep(POLL_MS);
      }
    }
  }
}

/** The answer to the next question of `source`; undefined when it stays open. */
function answersOf({ answers }: Scenario): ((source: string) => string | undefined) | undefined {
  if (answers === undefined) return undefined;
  if (!Array.isArray(answers)) return (source) => (answers as { [name: string]: string })[source];
  const left = [...(answers as readonly string[])];
  return () => left.shift() ?? "An answer too many.";
}

const ENDED: ReadonlySet<string> = new Set(["completed", "cancelled", "failed"]);

/** Expected output of workerd: alarms that moved, also over a kill, and connections that we cut. */
export const EXPECTED_OUTPUT = /SQLite alarm|disconnected|^stack:|^\s*$/;
