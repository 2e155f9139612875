import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { ComponentModel, Json, JsonObject } from "troupe";
import type { Result } from "#contract/result.ts";
import type { RunInfo } from "#contract/run.ts";
import { type RunTrace, runTraceSchema } from "#contract/team/trace.ts";
import { streamFrameSchema } from "#contract/stream/stream-frame.ts";
import type { StartRunInput, StreamCaller, TeamGateway } from "#contract/gateways/team-gateway.ts";
import { DurableObjectGateway } from "#team/object/durable-object-gateway.ts";
import { type Behaviour, script } from "./scripted-agent.ts";
import { PATIENCE } from "../../support/patience.ts";
import { storedRows } from "./stored-rows.ts";

let count = 0;

export function agent(
  name: string,
  behaviour: Behaviour,
  memory: readonly JsonObject[] = [],
): ComponentModel {
  const scriptName = `script-${++count}`;
  script(scriptName, behaviour);
  return {
    provider: "test.ScriptedAgent",
    config: { name, script: scriptName, memory: [...memory] },
  };
}

export function roundRobin(
  participants: readonly ComponentModel[],
  maxTurns: number | null,
): ComponentModel {
  const config = {
    participants: participants as unknown as Json,
    ...(maxTurns && { max_turns: maxTurns }),
  };
  return { provider: "RoundRobinGroupChat", config };
}

/** An agent that takes one step per answer and says how many answers it gave. */
export function counter(name: string, effect?: () => void): ComponentModel {
  return agent(name, async function* (self, ctx) {
    yield* [];
    return ctx.step("model:0", () => {
      effect?.();
      return Promise.resolve(`${name} ${self.answers + 1}`);
    });
  });
}

/** A team in an object of its own. */
export class TestTeam {
  readonly id = `team-${++count}`;
  readonly tenant: string;

  constructor(tenant = "tenant") {
    this.tenant = tenant;
  }

  /** A new one each time: those to an object that was aborted stay broken. */
  get gateway(): TeamGateway {
    return this.as({ credential: "" });
  }

  /** The gateway of a caller. */
  as(caller: StreamCaller): TeamGateway {
    return new DurableObjectGateway(env.ENGINE, 30_000, 0).team(this.tenant, this.id, caller);
  }

  get stub() {
    return env.ENGINE.get(env.ENGINE.idFromName(`${this.tenant}/${this.id}`));
  }

  static async create(component: ComponentModel, tenant?: string): Promise<TestTeam> {
    const team = new TestTeam(tenant);
    value(await team.gateway.create({ id: team.id, label: null, metadata: {}, component }));
    return team;
  }

  /** A new team with the conversation up to the end of a turn, null for the last one. */
  async fork(turn: number | null = null): Promise<TestTeam> {
    const fork = new TestTeam();
    value(await this.gateway.fork({ id: fork.id, turn }));
    return fork;
  }

  async start(task: string | null, options: Partial<StartRunInput> = {}): Promise<RunInfo> {
    return value(await this.gateway.startRun(startInput(task, options)));
  }

  /** The stream that a start answers with. */
  async startStream(
    task: string,
    options: Partial<StartRunInput> = {},
  ): Promise<AsyncGenerator<Frame, void, void>> {
    const opened = value(await this.gateway.startStream(startInput(task, options)));
    return "done" in opened ? noFrames() : readFrames(opened.body);
  }

  async run(id: string): Promise<RunInfo> {
    return value(await this.gateway.run(id));
  }

  async finished(id: string): Promise<RunInfo> {
    const run = value(await this.gateway.waitForRun(id, PATIENCE.timeout));
    if (run.ended_at === null) throw new Error(`the run is still ${run.status}`);
    return run;
  }

  /** Follows the run's stream to where it ends: the run is over, or a human has to do something. */
  async rested(id: string): Promise<RunInfo> {
    await this.frames(id);
    return this.run(id);
  }

  /** What the run did, all pages of it. */
  async trace(run: string, limit = 200): Promise<RunTrace> {
    const { next_cursor, ...first } = value(await this.gateway.runTrace(run, { limit }));
    const { spans } = first;
    for (let cursor = next_cursor; cursor !== null;) {
      const page = value(await this.gateway.runTrace(run, { cursor, limit }));
      spans.push(...page.spans);
      cursor = page.next_cursor;
    }
    return runTraceSchema.parse({ ...first, spans, next_cursor: null });
  }

  async stream(run: string | null, after = 0): Promise<AsyncGenerator<Frame, void, void>> {
    const opened = value(await this.gateway.stream({ run, after }));
    if ("done" in opened) return noFrames();
    return readFrames(opened.body);
  }

  /** The frames up to where the run is over or a human has to do something. */
  async frames(run: string, after = 0): Promise<Frame[]> {
    const frames: Frame[] = [];
    const client = new AbortController();
    const caller = this.as({ credential: "", signal: client.signal });
    const opened = value(await caller.stream({ run, after }));
    if ("done" in opened) return frames;
    let caughtUp = false;
    let status: RunInfo["status"] | undefined;
    for await (const frame of readFrames(opened.body)) {
      frames.push(frame);
      if (frame.event === "caught_up") caughtUp = true;
      if (frame.event === "run") ({ status } = frame.data as RunInfo);
      if (caughtUp && (status === "waiting" || status === "paused")) break;
    }
    client.abort();
    return frames;
  }

  evict(): Promise<void> {
    return evictDurableObject(this.stub);
  }

  /** Takes the object away in the middle of whatever it does, as a crash would. */
  async crash(): Promise<void> {
    const crashed = runInDurableObject(this.stub, (_instance, state) => state.abort("crash"));
    await expect(crashed).rejects.toThrow("crash");
  }

  sql<Row extends Record<string, SqlStorageValue>>(query: string): Promise<Row[]> {
    return runInDurableObject(this.stub, (_instance, state) =>
      storedRows<Row>(state.storage, query),
    );
  }

  rowsWritten(): Promise<number> {
    return runInDurableObject(this.stub, (instance) => instance.rowsWritten);
  }

  /** Resolves when everything was delivered to the team's tenant. */
  async delivered(): Promise<void> {
    const waiting = (): Promise<boolean> =>
      runInDurableObject(this.stub, (_instance, { storage: { sql } }) => {
        const tables = sql.exec("select name from sqlite_master where name = 'outbox'").toArray();
        if (tables.length === 0) return false;
        return sql.exec("select 1 from outbox where entry is not null").toArray().length > 0;
      });
    await vi.waitFor(async () => expect(await waiting()).toBe(false), PATIENCE);
  }

  /** Resolves when nothing is stored any more: a deleted team is erased once its tenant knows. */
  async erased(): Promise<void> {
    const tables = () => this.sql("select name from sqlite_master where name = 'meta'");
    await vi.waitFor(async () => expect(await tables()).toEqual([]), PATIENCE);
  }

  /** When the alarm is set to, once everything was delivered to the team's tenant. */
  async alarm(): Promise<number | null> {
    await this.delivered();
    return runInDurableObject(this.stub, (_instance, state) => state.storage.getAlarm());
  }
}

export function startInput(
  task: string | null,
  options: Partial<StartRunInput> = {},
): StartRunInput {
  return {
    task: task === null ? null : [{ type: "TextMessage", source: "user", content: task }],
    output_task_messages: true,
    on_conflict: "reject",
    timeout_seconds: null,
    max_total_tokens: null,
    max_cost: null,
    metadata: {},
    webhook: null,
    ...options,
  };
}

/** What was said, in order. */
export function texts(run: RunInfo): unknown[] {
  return (run.result?.messages ?? []).map((message) => "content" in message && message.content);
}

/** The contents of frames without a name, and the names of the others, without those of the progress. */
export function outline(frames: readonly Frame[]): unknown[] {
  const shown = frames.filter(({ event }) => event !== "activity" && event !== "turn");
  return shown.map(({ event, data }) => {
    const { type, content, status } = data as Record<string, unknown>;
    if (event === "run") return `run ${String(status)}`;
    return event ?? content ?? type;
  });
}

export function value<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(
    `${result.problem.code}: ${result.problem.detail} ${JSON.stringify(result.problem.errors ?? "")}`,
  );
}

export interface Frame {
  id: number | undefined;
  event: string | undefined;
  data: unknown;
}

async function* noFrames(): AsyncGenerator<Frame, void, void> {}

/** The frames of a stream; leaving the loop disconnects. Comments and `retry` are left out. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Frame, void, void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const frame = parseFrame(block);
      if (frame) yield frame;
    }
  }
}

function parseFrame(block: string): Frame | undefined {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const data = fields.get("data");
  if (data === undefined) return undefined;
  const id = fields.get("id");
  const frame = { event: fields.get("event"), data: JSON.parse(data) as unknown };
  // What the OpenAPI document says of streams is true of every stream that a test reads.
  streamFrameSchema.parse({ ...frame, event: frame.event ?? "message", id });
  return { ...frame, id: id === undefined ? undefined : Number(id) };
}

/** Something a test waits for or lets happen. */
export class Signal {
  #set = false;

  set(): void {
    this.#set = true;
  }

  /** Looks again and again: a promise that an object settles does not wake a test that waits for nothing else. */
  async wait(): Promise<void> {
    while (!this.#set) {
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  }
}
