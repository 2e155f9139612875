import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { TroupeClient } from "#client/index.ts";
import type { RunInfo } from "#contract/run.ts";
import type { JsonObject } from "#core/json.ts";
import { readStream } from "../chaos/harness/sse-client.ts";
import { StreamRecord } from "../chaos/harness/stream-record.ts";
import { HeldModel } from "./held-model.ts";
import { agent, ASKING_COMPONENT } from "./sample-component.ts";

const inTurn = (participants: JsonObject[]): JsonObject => ({
  provider: "RoundRobinGroupChat",
  config: { participants, max_turns: participants.length },
});
const speaker = (name: string, model: HeldModel): JsonObject => ({
  provider: "AssistantAgent",
  config: { name, model_client: model.client() as JsonObject, model_client_stream: true },
});

/** A client with a stream of a run, which connects again with its cursor until the run is over. */
class Watcher {
  readonly record = new StreamRecord();
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #closed = new AbortController();
  /** The connections that had frames. */
  connections = 0;
  /** The answers without frames: the code of a problem, or `retry` for what makes an EventSource come back later. */
  readonly refusals = new Set<string>();

  /** @param headers without a credential it is like an EventSource, which reads no problems */
  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
    void this.#follow();
  }

  close(): void {
    this.#closed.abort();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closed;
    while (!this.record.ended && !signal.aborted) {
      const { cursor } = this.record;
      let frames = 0;
      this.record.connected();
      try {
        await readStream(this.#url, {
          signal,
          headers: this.#headers,
          ...(cursor !== undefined && { lastEventId: cursor }),
          onFrame: (frame) => {
            if (frames++ === 0) this.connections++;
            this.record.add(frame);
          },
        });
        if (frames === 0) this.refusals.add("retry");
      } catch (error) {
        const [, code] = /"code":"(\w+)"/.exec(String(error)) ?? [];
        if (code !== undefined) this.refusals.add(code);
      }
      await pause(20);
    }
  }
}

/** The addresses of a Worker with objects, and of another in front of the same objects. */
interface Workers {
  readonly origin: string;
  readonly front: string;
}

/**
 * What is open while versions are deployed: a run that streams with two clients, one that is queued behind it, two that wait for an
 * answer, one that is paused, a schedule that is due soon, and a memory of a user.
 */
export class OpenRuns implements AsyncDisposable {
  readonly #workers: Workers;
  readonly #model: { speaks: HeldModel; pauses: HeldModel };
  readonly #runs = new Map<string, string>();
  /** The requests that the streaming run has made. */
  #requests = 1;
  /** Clients of the run that streams: an EventSource, and a program. */
  readonly watchers: Watcher[] = [];
  /** Clients of both Workers. They send each request once. */
  readonly client: TroupeClient;
  readonly front: TroupeClient;

  private constructor(workers: Workers, model: { speaks: HeldModel; pauses: HeldModel }) {
    this.#workers = workers;
    this.#model = model;
    this.client = new TroupeClient({ baseURL: workers.origin, maxRetries: 0 });
    this.front = new TroupeClient({ baseURL: workers.front, maxRetries: 0 });
  }

  /** Begins all of it, over the one Worker and the other. */
  static async begin(workers: Workers): Promise<OpenRuns> {
    const model = { speaks: await HeldModel.start(), pauses: await HeldModel.start() };
    const open = new OpenRuns(workers, model);
    const { client, front } = open;
    await front.teams.create({
      id: "speaks",
      component: inTurn([speaker("teller", model.speaks)]),
    });
    const { id } = await open.#start(front, "speaks", "Tell me.", "speaks");
    (await model.speaks.request(1)).begin("Once ");
    const path = `/v1/teams/speaks/runs/${id}/events`;
    const program = new Watcher(workers.front + path, { authorization: "Bearer any" });
    open.watchers.push(new Watcher(workers.origin + path, {}), program);
    const next = await client.team("speaks").start("And then?", { on_conflict: "queue" });
    expect(next.status).toBe("queued");
    open.#runs.set("queued", `speaks/runs/${next.id}`);
    for (const asks of ["waits", "untouched"]) {
      await client.teams.create({
        id: asks,
        component: inTurn(ASKING_COMPONENT.config.participants),
      });
      await open.#start(client, asks, "Shall we?", asks);
      await open.#reached(asks, "waiting");
    }
    const participants = [speaker("first", model.pauses), agent("second")];
    await client.teams.create({ id: "pauses", component: inTurn(participants) });
    const pausing = await open.#start(client, "pauses", "Go.", "pauses");
    const request = await model.pauses.request(1);
    await front.team("pauses").pause(pausing.id);
    request.end("First.");
    await open.#reached("pauses", "paused");
    await client.memories.add({ scope: "user", user: "anna", content: "Anna likes tea." });
    const due = await client.teams.create({ id: "due", component: inTurn([agent("writer")]) });
    await due.createSchedule({ at: new Date(Date.now() + 5_000).toISOString(), task: "Write." });
    await open.#connected(0);
    return open;
  }

  /** After a deployment: the clients connect again, and the model is called again for the run that streams. */
  async continued(): Promise<void> {
    const before = this.watchers.map(({ connections }) => connections);
    this.#requests++;
    (await this.#model.speaks.request(this.#requests)).begin("Once ");
    await this.#connected(Math.min(...before) - 1);
  }

  /** Ends everything that is open, and checks that each run has reached exactly one outcome. */
  async finish(): Promise<void> {
    const { speaks } = this.#model;
    await this.answer("waits");
    await this.client.team("pauses").resume(this.#id("pauses"));
    (await speaks.request(this.#requests)).end("upon a time.");
    (await speaks.request(this.#requests + 1)).end("The end.");
    await expect
      .poll(async () => (await this.client.team("due").runs()).runs)
      .toMatchObject([{ status: "completed" }]);
    const [written] = (await this.client.team("due").runs()).runs;
    this.#runs.set("due", `due/runs/${written?.id}`);
    for (const name of this.#runs.keys()) await this.#reached(name, "completed");
    for (const { record } of this.watchers) {
      await expect.poll(() => record.ended).toBe(true);
      expect(record.problems).toEqual([]);
    }
    // No run was started twice, and the events of each have one end.
    const { runs } = await this.client.runs.list({ limit: 100 });
    expect(runs.map(({ team_id, id }) => `${team_id}/runs/${id}`).toSorted()).toEqual(
      [...this.#runs.values()].toSorted(),
    );
    for (const path of this.#runs.values()) {
      const record = new StreamRecord();
      const url = `${this.#workers.origin}/v1/teams/${path}/events?after=0`;
      await readStream(url, { onFrame: (frame) => record.add(frame) });
      expect(record.problems).toEqual([]);
      expect(record.ended).toBe(true);
    }
    expect(speaks.requests).toHaveLength(this.#requests + 1);
    expect(this.#model.pauses.requests).toHaveLength(1);
    expect((await this.client.memories.list({ user: "anna" })).memories).toHaveLength(1);
  }

  /** Answers the question of a team, over the Worker in front. */
  async answer(team: string): Promise<void> {
    const run = this.#id(team);
    const [question] = await this.client.team(team).requests(run);
    await this.front.team(team).answer(run, question?.id ?? "", { content: "We shall." });
    await this.#reached(team, "completed");
  }

  async #start(client: TroupeClient, team: string, task: string, name: string): Promise<RunInfo> {
    const run = await client.team(team).start(task);
    this.#runs.set(name, `${team}/runs/${run.id}`);
    return run;
  }

  #id(name: string): string {
    return this.#runs.get(name)?.split("/").at(-1) ?? "";
  }

  async #reached(name: string, status: RunInfo["status"]): Promise<void> {
    const [team = ""] = this.#runs.get(name)?.split("/") ?? [];
    const run = this.client.team(team);
    await expect.poll(async () => (await run.getRun(this.#id(name))).status).toBe(status);
  }

  #connected(before: number): Promise<void> {
    return expect
      .poll(() => this.watchers.every(({ connections }) => connections > before))
      .toBe(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watcher of this.watchers) watcher.close();
    await this.#model.speaks[Symbol.asyncDispose]();
    await this.#model.pauses[Symbol.asyncDispose]();
  }
}
