import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { HeldModel, type HeldRequest } from "./held-model.ts";
import { jsonInit } from "./http-app.ts";
import { readUntil } from "./read-until.ts";

/** A run of a team. */
export interface Started {
  team: string;
  run: string;
}

/** A message of a team's log. */
export interface Logged {
  id: string;
  source: string;
  content: string;
  metadata: object;
}

interface Server {
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export const team = (provider: string, config: object): object => ({ provider, config });

export const mentions = (text: string): object => team("TextMentionTermination", { text });

const SETTINGS = { ALLOWED_EGRESS: "http://127.0.0.1", SECRETS_KEY: btoa("k".repeat(32)) };

/** The server of a file's tests, and a held model for each of them. */
export interface SteeringStage<Worker> {
  readonly teams: SteeredTeams;
  readonly worker: Worker;
  readonly model: HeldModel;
}

/** Starts them with the tests of the file, and ends them after these. */
export function steeringStage<Worker extends Server & AsyncDisposable>(
  start: (settings: typeof SETTINGS) => Promise<Worker>,
): SteeringStage<Worker> {
  let worker: Worker;
  let model: HeldModel;
  beforeAll(async () => {
    worker = await start(SETTINGS);
  });
  afterAll(() => worker[Symbol.asyncDispose]());
  beforeEach(async () => {
    model = await HeldModel.start();
  });
  afterEach(() => model[Symbol.asyncDispose]());
  return {
    teams: new SteeredTeams(
      () => worker,
      () => model,
    ),
    get worker() {
      return worker;
    },
    get model() {
      return model;
    },
  };
}

/** Calls about teams whose model is held, and into whose runs a test speaks. */
export class SteeredTeams {
  readonly #server: () => Server;
  readonly #model: () => HeldModel;

  constructor(server: () => Server, model: () => HeldModel) {
    this.#server = server;
    this.#model = model;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return this.#server().fetch(path, init);
  }

  assistant(name: string, more: object = {}): object {
    return team("AssistantAgent", {
      name,
      description: `The ${name}.`,
      model_client: this.#model().client(),
      model_client_stream: true,
      system_message: `You are ${name}.`,
      ...more,
    });
  }

  async create(component: object): Promise<string> {
    const created = await this.fetch("/v1/teams", jsonInit({ component }));
    expect(created.status, await created.clone().text()).toBe(201);
    return ((await created.json()) as { id: string }).id;
  }

  async start(component: object, task: unknown = "Begin.", more: object = {}): Promise<Started> {
    return this.again(await this.create(component), task, more);
  }

  /** Starts a run of a team that exists. */
  async again(id: string, task: unknown, more: object = {}): Promise<Started> {
    const started = await this.fetch(`/v1/teams/${id}/runs`, jsonInit({ task, ...more }));
    expect(started.status, await started.clone().text()).toBe(202);
    return { team: id, run: ((await started.json()) as RunInfo).id };
  }

  send(
    { team: id, run }: Started,
    content: string,
    more: object = {},
    key: string = crypto.randomUUID(),
  ): Promise<Response> {
    const init = jsonInit({ content, ...more }, "POST", { "idempotency-key": key });
    return this.fetch(`/v1/teams/${id}/runs/${run}/messages`, init);
  }

  /** Sends a message. Returns its id. */
  async steer(started: Started, content: string, more: object = {}): Promise<string> {
    const sent = await this.send(started, content, more);
    expect(sent.status, await sent.clone().text()).toBe(202);
    return ((await sent.json()) as { id: string }).id;
  }

  stop({ team: id, run }: Started, mode: "now" | "after_turn" = "now"): Promise<Response> {
    return this.fetch(`/v1/teams/${id}/runs/${run}/stop`, jsonInit({ mode }));
  }

  /** The copy of the team. */
  async fork(id: string, more: object = {}): Promise<string> {
    const fork = await this.fetch(`/v1/teams/${id}/fork`, jsonInit(more));
    expect(fork.status, await fork.clone().text()).toBe(201);
    return ((await fork.json()) as { id: string }).id;
  }

  /** The run once it has ended. */
  async finished({ team: id, run }: Started): Promise<RunInfo> {
    for (;;) {
      const found = (await (await this.fetch(`/v1/teams/${id}/runs/${run}`)).json()) as RunInfo;
      if (found.ended_at !== null) return found;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }

  async log(id: string): Promise<Logged[]> {
    const response = await this.fetch(`/v1/teams/${id}/messages?limit=100`);
    return ((await response.json()) as { messages: Logged[] }).messages;
  }

  /** The contents of the log. */
  async said(id: string): Promise<string[]> {
    return (await this.log(id)).map(({ content }) => content);
  }

  /** Resolves once a piece of an answer is shown. */
  async shown({ team: id, run }: Started, piece = ""): Promise<void> {
    const response = await this.fetch(`/v1/teams/${id}/runs/${run}/events`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await readUntil(
      reader,
      new RegExp(
        `(event: snapshot|ModelClientStreamingChunkEvent)[^]*${piece}|${piece}[^]*ModelClientStreamingChunkEvent`,
      ),
    );
    await reader.cancel();
  }

  /** The first request whose texts are enough. */
  async until(isEnough: (texts: string[]) => boolean): Promise<HeldRequest> {
    for (let number = 1; ; number++) {
      const request = await this.#model().request(number);
      if (isEnough(request.texts)) return request;
    }
  }
}
