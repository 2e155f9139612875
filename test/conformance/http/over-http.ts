import type { Json, JsonObject } from "troupe";
import { type Host, type Played, type Records, thrown } from "../host.ts";
import { Human } from "../stand-ins/human.ts";
import { sameJson, type Step, type Trace } from "../trace.ts";
import type { Used } from "../worker/protocol.ts";
import type { Api } from "./api.ts";
import { responseOnly } from "./response-only.ts";
import { HttpRun } from "./run.ts";

/**
 * Plays a trace over HTTP: a team or an agent is a team of the service, in a Durable Object of its own. What the API has
 * no call for is played by the same code as in memory, inside the Worker.
 */
export class OverHttp implements Host {
  readonly #api: Api;
  /** Names the trace to the Worker. */
  readonly #trace: string;
  readonly #human: Human;
  readonly #evicts: boolean;
  /** The id of the subject's team; undefined when the subject is neither team nor agent. */
  #team: string | undefined;
  #role: string | null = null;
  /** Whether the world outside may have been asked something since its records were taken. */
  #asked = false;

  /** @param evicts whether the team's object is ended before every step, and while a run waits */
  constructor(api: Api, name: string, trace: Trace, evicts: boolean) {
    this.#api = api;
    this.#trace = name;
    this.#human = new Human(trace.inputs);
    this.#evicts = evicts;
  }

  async use(model: JsonObject, hooks: JsonObject): Promise<Played> {
    this.#team = undefined;
    try {
      const { error, role, component } = await this.#api.call<Used>("POST", "/use", {
        component: model,
        hooks,
      });
      this.#role = role;
      if (error || isRunnable(role)) {
        this.#team = await this.#create(component);
        if (error) throw new Error(`the API took what cannot be loaded: ${error.message}`);
      }
      return { actual: {} };
    } catch (error) {
      return { actual: {}, error: thrown(error) };
    }
  }

  async play(step: Step): Promise<Played> {
    if (step.op === "component") return this.#component(step);
    if (this.#team === undefined) return this.#inside(step);
    const team = this.#team;
    const address = `/v1/teams/${team}`;
    const evict = async (): Promise<void> => {
      await this.#api.call("POST", "/evict", { team });
    };
    if (this.#evicts) await evict();
    switch (step.op) {
      case "run": {
        this.#asked = true;
        const run = new HttpRun(this.#api, team, {
          human: this.#human,
          evicts: this.#evicts,
          evict,
        });
        const { task = null, output_task_messages = true } = step;
        const input = { task, output_task_messages };
        if (step["stream"] !== false) return run.streamed(input);
        const played = await run.plain(input);
        return this.#role === "agent" ? plainRunOfAgent(step, played) : played;
      }
      case "save_state":
        return this.#shows("state", this.#api.call("GET", `${address}/state`));
      case "load_state":
        return this.#does(this.#api.call("PUT", `${address}/state`, step["state"] ?? null));
      case "reset":
        return this.#does(this.#api.call("POST", `${address}/reset`));
      default:
        return this.#inside(step);
    }
  }

  async takeRecords(): Promise<Records> {
    if (!this.#asked) return { model_calls: [], input_prompts: [], code_calls: [], hook_calls: [] };
    this.#asked = false;
    const { input_prompts, ...records } = await this.#api.call<Records>("POST", "/records");
    return { ...records, input_prompts: [...input_prompts, ...this.#human.take()] };
  }

  /** Creates a team and returns its id. */
  async #create(component: JsonObject): Promise<string> {
    const team = await this.#api.call<{ id: string; component: JsonObject }>("POST", "/v1/teams", {
      component,
      metadata: { trace: this.#trace },
    });
    if (!sameJson(team.component, component)) {
      throw new Error(`the team has the component ${JSON.stringify(team.component)}`);
    }
    return team.id;
  }

  /**
   * Dumps are made inside: the API shows components as they came. Whether one can be loaded, and which places are wrong,
   * the API must say, too; it names no kind of mistake.
   */
  async #component(step: Step): Promise<Played> {
    const played = await this.#inside(step);
    if (step["expect"] !== undefined) return played;
    const { error } = await this.#does(
      this.#api.call("POST", "/v1/components/validate", { component: step["component"] ?? null }),
    );
    if ((error === undefined) !== (played.error === undefined)) {
      const message = `loading: ${played.error?.message ?? "no error"}; the API: ${error?.message ?? "no error"}`;
      return { actual: {}, error: { code: null, message, issues: [] } };
    }
    return error && played.error
      ? { ...played, error: { ...played.error, issues: error.issues } }
      : played;
  }

  #inside(step: Step): Promise<Played> {
    this.#asked = true;
    return this.#api.call("POST", "/play", step);
  }

  async #does(call: Promise<Json>): Promise<Played> {
    try {
      await call;
      return { actual: {} };
    } catch (error) {
      return { actual: {}, error: thrown(error) };
    }
  }

  async #shows(key: string, call: Promise<Json>): Promise<Played> {
    try {
      return { actual: { [key]: await call } };
    } catch (error) {
      return { actual: {}, error: thrown(error) };
    }
  }
}

function plainRunOfAgent({ events: recorded }: Step, played: Played): Played {
  const { events } = played.actual;
  if (!Array.isArray(recorded) || !Array.isArray(events)) return played;
  const shown = events.map((event, index) => responseOnly(recorded[index], event));
  return { ...played, actual: { events: shown } };
}

function isRunnable(role: string | null): boolean {
  return role === "team" || role === "agent";
}
