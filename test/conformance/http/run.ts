import { EventSourceParserStream } from "eventsource-parser/stream";
import { TroupeError } from "../../../src/core/errors.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { HumanRequest, RunInfo } from "../../../src/core/run/gateway.ts";
import { type Played, thrown } from "../host.ts";
import type { Human } from "../stand-ins/human.ts";
import { sameJson } from "../trace.ts";
import type { Api } from "./api.ts";

/** One run of a team, from its start to its end. */
export class HttpRun {
  readonly #api: Api;
  readonly #human: Human;
  /** Address of the team's runs. */
  readonly #runs: string;
  readonly #answered = new Set<string>();

  constructor(api: Api, team: string, human: Human) {
    this.#api = api;
    this.#human = human;
    this.#runs = `/v1/teams/${team}/runs`;
  }

  /** The items of its stream, as AutoGen's `run_stream` yields them. */
  async streamed(input: JsonObject): Promise<Played> {
    const events: Json[] = [];
    try {
      const response = await this.#api.open("POST", this.#runs, input, "text/event-stream");
      events.push(await this.#follow(response, events));
      return { actual: { events } };
    } catch (error) {
      return { actual: { events }, error: thrown(error) };
    }
  }

  /** Its result alone, as AutoGen's `run` returns it. */
  async plain(input: JsonObject): Promise<Played> {
    try {
      let run = await this.#api.call<RunInfo>("POST", `${this.#runs}?wait=1`, input);
      while (run.ended_at === null) {
        await this.#attend(run.id, run.requests);
        run = await this.#info(run.id);
      }
      return { actual: { events: [resultOf(run)] } };
    } catch (error) {
      return { actual: { events: [] }, error: thrown(error) };
    }
  }

  /** Adds what the stream shows to `events` and returns the result. @throws whatever the run ended with instead */
  async #follow(response: Response, events: Json[]): Promise<Json> {
    let id = "";
    let retracted = false;
    for await (const { event, data } of framesOf(response)) {
      switch (event) {
        case undefined:
          if (data["type"] !== "TaskResult") events.push(data);
          else if (retracted)
            throw new Error("a run that completed took back messages it had shown");
          else return this.#result(id, data);
          break;
        case "run": {
          const run = data as unknown as RunInfo;
          id = run.id;
          if (run.status === "waiting") await this.#attend(id, run.requests);
          if (run.status === "cancelled") return resultOf(await this.#info(id));
          break;
        }
        case "failed":
          return resultOf(await this.#info(id));
        case "retract":
          retracted = true;
          break;
        case "caught_up":
          break;
        default:
          throw new Error(`a stream that began with its run has a frame ${event}`);
      }
    }
    throw new Error("the stream of the run has no end");
  }

  /** The run's own word for its result must be the stream's. */
  async #result(id: string, streamed: JsonObject): Promise<Json> {
    const run = await this.#info(id);
    const said = {
      type: "TaskResult",
      stop_reason: run.stop_reason,
      usage: { ...run.usage },
      message_ids: run.result?.messages.map((message) => message.id) ?? null,
    };
    if (!sameJson(said, streamed)) {
      throw new Error(
        `the stream ends with ${JSON.stringify(streamed)}, the run with ${JSON.stringify(said)}`,
      );
    }
    return resultOf(run);
  }

  /** Answers for the human. One who cannot is gone for good: then the run is cancelled. */
  async #attend(run: string, requests: readonly HumanRequest[]): Promise<void> {
    for (const request of requests) {
      if (this.#answered.has(request.id)) continue;
      this.#answered.add(request.id);
      const address = `${this.#runs}/${run}`;
      try {
        const answer = await this.#human.answer(request);
        await this.#api.call("POST", `${address}/requests/${request.id}`, answer);
      } catch {
        await this.#api.call("POST", `${address}/stop`, { mode: "now" });
        return;
      }
    }
  }

  #info(run: string): Promise<RunInfo> {
    return this.#api.call("GET", `${this.#runs}/${run}`);
  }
}

/** What AutoGen's run would return. @throws TroupeError for a run that did not complete */
function resultOf({ status, error, result, stop_reason }: RunInfo): Json {
  if (status === "completed" && result) {
    return { type: "TaskResult", stop_reason, messages: result.messages as unknown as Json };
  }
  if (error) throw new TroupeError(error.type, error.message);
  throw new TroupeError(status, `the run is ${status}`);
}

async function* framesOf(
  response: Response,
): AsyncGenerator<{ event: string | undefined; data: JsonObject }, void, void> {
  if (response.body === null) return;
  const frames = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of frames) yield { event, data: JSON.parse(data) as JsonObject };
}
