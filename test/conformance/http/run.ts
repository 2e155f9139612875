import { EventSourceParserStream } from "eventsource-parser/stream";
import { TroupeError } from "troupe";
import type { Json, JsonObject } from "troupe";
import type { HumanRequest, RunInfo } from "#contract/run.ts";
import { type Played, thrown } from "../host.ts";
import type { Human } from "../stand-ins/human.ts";
import { sameJson } from "../trace.ts";
import type { Api } from "./api.ts";

/** What the streams of one run have shown so far. */
interface Stream {
  /** The id of the run. */
  run: string;
  /** The id of the last recorded frame. */
  cursor: string;
  events: Json[];
  retracted: boolean;
}

/** What a run meets outside. */
export interface Outside {
  human: Human;
  /** Whether the object is to be ended while the run waits. */
  evicts: boolean;
  /** Ends it. */
  evict(): Promise<void>;
}

/** One run of a team, from its start to its end. */
export class HttpRun {
  readonly #api: Api;
  readonly #outside: Outside;
  /** Address of the team's runs. */
  readonly #runs: string;
  /** Requests that were open when the object was ended, if it was to be. */
  readonly #seen = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(api: Api, team: string, outside: Outside) {
    this.#api = api;
    this.#outside = outside;
    this.#runs = `/v1/teams/${team}/runs`;
  }

  /** The items of its stream, as AutoGen's `run_stream` yields them. */
  async streamed(input: JsonObject): Promise<Played> {
    const stream: Stream = { run: "", cursor: "0", events: [], retracted: false };
    const { events } = stream;
    try {
      const accept = "text/event-stream";
      let response = await this.#api.open("POST", this.#runs, input, { accept });
      let result = await this.#follow(response, stream);
      while (result === undefined) {
        await this.#outside.evict();
        const headers = { accept, "last-event-id": stream.cursor };
        const address = `${this.#runs}/${stream.run}/events`;
        response = await this.#api.open("GET", address, undefined, headers);
        result = await this.#follow(response, stream);
      }
      return { actual: { events: [...events, result] } };
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

  /**
   * Adds what the stream shows and returns the result; undefined when the connection has to be made again.
   *
   * @throws whatever the run ended with instead
   */
  async #follow(response: Response, stream: Stream): Promise<Json | undefined> {
    let caughtUp = false;
    let open: HumanRequest[] = [];
    for await (const { event, id, data } of framesOf(response)) {
      stream.cursor = id ?? stream.cursor;
      switch (event) {
        case undefined:
          if (data["type"] === "TaskResult") return this.#result(stream, data);
          stream.events.push(data);
          break;
        case "run": {
          const run = data as unknown as RunInfo;
          stream.run = run.id;
          if (run.status === "cancelled") return resultOf(await this.#info(run.id));
          open = run.status === "waiting" ? run.requests : [];
          if (this.#outside.evicts && open.some((request) => !this.#seen.has(request.id))) {
            for (const request of open) this.#seen.add(request.id);
            return undefined;
          }
          break;
        }
        case "failed":
          return resultOf(await this.#info(stream.run));
        case "retract":
          stream.retracted = true;
          break;
        case "caught_up":
          caughtUp = true;
          break;
        case "activity":
        case "turn":
          break;
        default:
          throw new Error(`a stream that began with its run has a frame ${event}`);
      }
      // Not before: what is said after the answer must find a client that listens.
      if (caughtUp) await this.#attend(stream.run, open);
    }
    throw new Error("the stream of the run has no end");
  }

  /** The run's own word for its result must be the stream's. */
  async #result(stream: Stream, streamed: JsonObject): Promise<Json> {
    if (stream.retracted) throw new Error("a run that completed took back messages it had shown");
    const run = await this.#info(stream.run);
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
      const { login: _, ...asked } = request;
      if (this.#answered.has(request.id)) continue;
      this.#answered.add(request.id);
      const address = `${this.#runs}/${run}`;
      try {
        const answer = await this.#outside.human.answer(asked);
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

interface Frame {
  event: string | undefined;
  id: string | undefined;
  data: JsonObject;
}

async function* framesOf(response: Response): AsyncGenerator<Frame, void, void> {
  if (response.body === null) return;
  const frames = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, id, data } of frames) {
    yield { event, id, data: JSON.parse(data) as JsonObject };
  }
}
