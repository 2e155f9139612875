import type { KnownModel } from "../catalogue/known-model.ts";

/** The two APIs by which OpenAI's models are asked. */
export type ApiName = "responses" | "chat_completions";

/** An API of a server, with its path. */
export interface Route {
  api: ApiName;
  path: string;
}

/** Routes in the order in which they are asked: the next one, where a server refuses the one before. */
export type Routes = readonly [Route, ...Route[]];

/** A server, and the ways to ask it. */
export interface Server {
  url: string;
  /** Whether it is OpenAI's or Azure's own, or what OPENAI_BASE_URL names. */
  isMakers: boolean;
  /** Paths of an API, which some servers have at one place and some at another. */
  paths: { readonly [api in ApiName]: readonly [string, ...string[]] };
}

/**
 * The ways to ask a server. One that is not the maker's is asked by chat completions first, whatever the model.
 *
 * @param wanted `api` of the config
 * @param effort the reasoning effort of the request
 */
export function routesFor(
  { isMakers, paths }: Server,
  wanted: ApiName | "auto",
  known: KnownModel | undefined,
  effort: unknown,
): Routes {
  const routesOf = (api: ApiName): Routes => {
    const [first, ...others] = paths[api];
    return [{ api, path: first }, ...others.map((path) => ({ api, path }))];
  };
  if (wanted !== "auto") return routesOf(wanted);
  return isMakers && needsResponses(known, effort)
    ? [...routesOf("responses"), ...routesOf("chat_completions")]
    : [...routesOf("chat_completions"), ...routesOf("responses")];
}

/** Whether a model needs `/responses` for tools. */
export function needsResponses(known: KnownModel | undefined, effort: unknown): boolean {
  switch (known?.responses) {
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
