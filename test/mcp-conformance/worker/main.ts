import { isJsonObject } from "#core/json.ts";
import { defineTeam, type JsonObject, registerComponent } from "troupe";
import app, { type Env } from "troupe/worker";
import { Fixture } from "./fixture.ts";
import { TEAMS } from "./teams.ts";

export { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

registerComponent(Fixture.component);
for (const name of [
  "test_simple_prompt",
  "test_prompt_with_arguments",
  "test_prompt_with_embedded_resource",
]) {
  const description = "A prompt of the suite.";
  defineTeam({ name, description, task: "Hello.", component: TEAMS.greet as never });
}

/**
 * The service, whose teams stand in for the tools of the suite's example server. Requests are translated, because teams have names
 * and arguments of their own; answers are the service's, and unchanged.
 */
export default {
  async fetch(request, env) {
    return app.fetch(await translated(request), env);
  },
} satisfies ExportedHandler<Env>;

async function translated(request: Request): Promise<Request> {
  if (request.method !== "POST" || new URL(request.url).pathname !== "/mcp") return request;
  const text = await request.text();
  const headers = new Headers(request.headers);
  const body = translatedBody(text, headers);
  return new Request(request, { method: "POST", headers, body });
}

function translatedBody(text: string, headers: Headers): string {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isJsonObject(message)) return text;
  const { method, params, result } = message;
  if (isJsonObject(result)) return JSON.stringify({ ...message, result: filled(result) });
  if (!isJsonObject(params)) return text;
  const changed = { ...params, ...translatedParams(method, params) };
  const { inputResponses } = changed;
  if (isJsonObject(inputResponses)) {
    const responses = Object.entries(inputResponses).map(([key, one]) => [
      key,
      isJsonObject(one) ? filled(one) : one,
    ]);
    changed.inputResponses = Object.fromEntries(responses) as JsonObject;
  }
  for (const field of ["name", "uri"]) {
    const value = changed[field];
    if (typeof value === "string" && headers.get("mcp-name") === params[field])
      headers.set("mcp-name", value);
  }
  return JSON.stringify({ ...message, params: changed });
}

function translatedParams(method: unknown, params: JsonObject): JsonObject {
  const { name, uri, arguments: given = {} } = params;
  const task = JSON.stringify(given);
  if (method === "tools/call" && typeof name === "string" && Object.hasOwn(TEAMS, name)) {
    // The suite wants its result at once, from a client that knows tasks, too: the call waits for it.
    return {
      name: `run_${name}`,
      arguments: { task, ...(name === "greet" && { wait_seconds: 30 }) },
    };
  }
  if (method === "prompts/get") return { arguments: { task } };
  if (method === "completion/complete") return { argument: { name: "task", value: "" } };
  if (typeof uri === "string") return { uri: uriOf(uri) };
  return {};
}

/** The resources of the service are what was said in its teams. */
function uriOf(uri: string): string {
  const [, team] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? [];
  if (team !== undefined) return `troupe://teams/${team}/thread`;
  const place = {
    "test://static-text": "transcript",
    "test://watched-resource": "thread",
    "test://static-binary": "messages/1/parts/1",
  }[uri];
  return place === undefined ? uri : `troupe://teams/123/${place}`;
}

/** A filled form of the suite, with the field that the service's forms have. */
function filled(response: JsonObject): JsonObject {
  const { content } = response;
  if (!isJsonObject(content)) return response;
  return { ...response, content: { ...content, content: JSON.stringify(content) } };
}
