import type { ServerHabits } from "./responses/server-habits.ts";
import { APIError } from "openai/error";
import type { Json } from "../../../core/json.ts";
import { ServerFailure } from "../http/errors.ts";
import { optionalObject } from "../http/fields.ts";
import { failureOf } from "../http/sdk-errors.ts";
import type { KnownModel } from "../catalogue/known-model.ts";

/** The attempts at one request: when a server refuses it, it is made in another form, each form once. */
export class Attempts {
  readonly #habits: ServerHabits;
  readonly #left: Route[];
  readonly #dropReasoning: () => boolean;
  /** The route of the next attempt. */
  route: Route;
  /** The number of refused attempts. */
  count = 0;
  /** The habits with which the request was written; another request may have changed them since. */
  #asked: ServerHabits["account"];
  #hasMoved = false;
  /** The error of chat completions that named the other API. */
  #chatError: unknown;

  /** @param dropReasoning leaves out the reasoning of earlier answers; returns whether there was any */
  constructor(request: RouteRequest, habits: ServerHabits, dropReasoning: () => boolean) {
    const routes = routesFor(request);
    this.#habits = habits;
    this.#asked = { ...habits.account };
    this.#dropReasoning = dropReasoning;
    this.route = routes.find(({ path }) => path === habits.server.path) ?? routes[0];
    this.#left = routes.filter((route) => route !== this.route);
  }

  /** True to try again in another form after an error of the SDK. */
  again(error: unknown): boolean {
    if (!this.#changes(error)) return false;
    this.count++;
    this.#asked = { ...this.#habits.account };
    return true;
  }

  /** Remembers the route that was found. */
  succeeded(): void {
    if (this.#hasMoved) this.#habits.server.path = this.route.path;
  }

  /**
   * The error to report when no other form is left: a server without responses has given a better error by chat
   * completions.
   */
  failure(error: unknown): unknown {
    const { api } = this.route;
    const lacksApi = api === "responses" && refusalOf(error, api) === "api";
    return lacksApi ? (this.#chatError ?? error) : error;
  }

  #changes(error: unknown): boolean {
    const { api } = this.route;
    switch (refusalOf(error, api)) {
      case "api": {
        // Chat completions refuses a model by naming the other API; a server without that one has chat completions.
        const next = this.#left.findIndex(
          (route) => api === "responses" || route.api === "responses",
        );
        const [route] = next === -1 ? [] : this.#left.splice(next, 1);
        if (route === undefined) return false;
        if (api === "chat_completions") this.#chatError = error;
        this.route = route;
        this.#hasMoved = true;
        return true;
      }
      case "reasoning":
        return this.#dropReasoning();
      case "summary":
        return this.#turnOff("summaries");
      case "encryption":
        return this.#turnOff("encryption");
      case undefined:
        return false;
    }
  }

  #turnOff(habit: "summaries" | "encryption"): boolean {
    this.#habits.account[habit] = false;
    return this.#asked[habit];
  }
}

/** The part of a request that a server refused, if there is a form without it. */
type RefusedPart = "api" | "reasoning" | "summary" | "encryption";

/** Statuses of a server that does not have an API. */
const NO_SUCH_API = new Set([404, 405, 501]);

/** A reasoning item that was sent back is wrong, truncated, of another account, or was not stored by the server. */
const REASONING = /encrypted.content|'reasoning'|item with id/i;

/** Reads why a request was refused; undefined for an error that another form would not fix. */
function refusalOf(error: unknown, api: ApiName): RefusedPart | undefined {
  const failure = error instanceof APIError ? failureOf(error) : error;
  if (!(failure instanceof ServerFailure)) return undefined;
  // An error inside of an answer has no status.
  const { status = 400, body } = failure;
  const said = optionalObject(body as Json);
  const { param, code } = optionalObject(said?.["error"]) ?? said ?? {};
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (api === "chat_completions")
    return (status === 400 || status === 404) && /v1\/responses/.test(text) ? "api" : undefined;
  if (status === 400 || status === 404) {
    if (param === "reasoning.summary") return "summary";
    if (param === "include" || /encrypted content is not supported/i.test(text))
      return "encryption";
    if (code === "invalid_encrypted_content" || REASONING.test(text)) return "reasoning";
  }
  return NO_SUCH_API.has(status) ? "api" : undefined;
}

/** The two APIs of OpenAI's models. */
export type ApiName = "responses" | "chat_completions";

/** An API of a server, with its path. */
interface Route {
  api: ApiName;
  path: string;
}

/** Routes in the order of attempts: the next one is used when the server refuses the one before. */
type Routes = readonly [Route, ...Route[]];

/** A server and its possible routes. */
export interface Server {
  url: string;
  /** True for OpenAI's or Azure's own server, or that of OPENAI_BASE_URL. */
  isMakers: boolean;
  /** Paths of an API, which some servers have at one place and some at another. */
  paths: { readonly [api in ApiName]: readonly [string, ...string[]] };
}

/** The server and the settings by which the routes of a request are chosen. */
export interface RouteRequest {
  server: Server;
  /** `api` of the config. */
  wanted: ApiName | "auto";
  catalogued: KnownModel | undefined;
  /** The reasoning effort of the request. */
  effort: unknown;
}

/** The routes of a server. For servers of other providers chat completions come first, whatever the model. */
function routesFor({
  server: { isMakers, paths },
  wanted,
  catalogued,
  effort,
}: RouteRequest): Routes {
  const routesOf = (api: ApiName): Routes => {
    const [first, ...others] = paths[api];
    return [{ api, path: first }, ...others.map((path) => ({ api, path }))];
  };
  if (wanted !== "auto") return routesOf(wanted);
  return isMakers && needsResponses(catalogued, effort)
    ? [...routesOf("responses"), ...routesOf("chat_completions")]
    : [...routesOf("chat_completions"), ...routesOf("responses")];
}

/** True if a model needs `/responses` for tools. */
export function needsResponses(catalogued: KnownModel | undefined, effort: unknown): boolean {
  switch (catalogued?.responses) {
    case "always":
      return true;
    case "unless_none":
      return effort !== "none";
    case "with_effort":
      return effort !== undefined && effort !== null && effort !== "none";
    case undefined:
      return false;
  }
}
