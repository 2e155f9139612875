import { beginningOf } from "../../../../core/cut.ts";
import type { CompleteRequest, CompleteResult } from "@modelcontextprotocol/server";
import { ID } from "../../../../contract/constants.ts";
import { invalid, unwrap } from "../../../http/endpoint/problem.ts";
import { listsOf } from "../../../http/endpoint/services.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { resourceTemplates } from "./resources.ts";

type Params = CompleteRequest["params"];

/** Values of one answer: the most that the protocol allows. */
const MOST_VALUES = 100;

/** Values for an argument of a prompt or of a resource template, of which a part was typed. @throws ProblemError */
export async function complete(
  request: McpRequest,
  { ref, argument, context }: Params,
): Promise<CompleteResult> {
  const chosen = context?.arguments ?? {};
  const values =
    ref.type === "ref/prompt"
      ? await ofPrompt(request, ref.name, argument)
      : await ofTemplate(request, ref.uri, argument, chosen);
  const visible = values.slice(0, MOST_VALUES);
  return { completion: { values: visible, hasMore: values.length > visible.length } };
}

type Argument = Params["argument"];

/** The task that a template shows as its example. */
async function ofPrompt(
  { services, only }: McpRequest,
  name: string,
  argument: Argument,
): Promise<string[]> {
  const templates = only === undefined ? await services.templates() : [];
  const template = templates.find((one) => one.name === name);
  if (template === undefined) {
    throw refused("ref.name", "must be the name of a prompt: prompts/list lists all");
  }
  if (argument.name !== "task") throw refused("argument.name", 'must be "task"');
  return template.task === undefined ? [] : matching([template.task], argument.value);
}

async function ofTemplate(
  request: McpRequest,
  uri: string,
  { name, value }: Argument,
  given: Readonly<Record<string, string>>,
): Promise<string[]> {
  const templates = resourceTemplates(request).map(({ uriTemplate }) => uriTemplate);
  if (!templates.includes(uri)) {
    throw refused("ref.uri", `must be one of ${templates.join(", ")}`);
  }
  const names = [...uri.matchAll(/\{[?+]?(\w+)\}/g)].map(([, one = ""]) => one);
  if (!names.includes(name)) {
    throw refused("argument.name", `must be one of ${names.join(", ")}`);
  }
  if (name === "team") return teams(request, value);
  const team = request.only?.id ?? given.team ?? "";
  if (!ID.test(team)) return [];
  if (name === "path") return paths(request, team, value);
  if (name === "part") return parts(request, team, given.seq ?? "", value);
  return numbers(request, team, value, name === "seq");
}

/** Ids of the teams whose id or label has the text, latest activity first, those that begin with it before the others. */
async function teams({ services, principal }: McpRequest, value: string): Promise<string[]> {
  const page = unwrap(
    await listsOf(services, principal).teams({
      metadata: {},
      lasting: true,
      order: "newest",
      limit: services.limits.max_page_size,
      ...(value !== "" && { q: beginningOf(value, 200) }),
    }),
  );
  const text = value.toLowerCase();
  const begins = ({ id, label }: { id: string; label: string | null }): boolean =>
    id.toLowerCase().startsWith(text) || label?.toLowerCase().startsWith(text) === true;
  const first = page.teams.filter(begins);
  const others = page.teams.filter((team) => !begins(team));
  return [...first, ...others].map(({ id }) => id);
}

async function paths(request: McpRequest, id: string, value: string): Promise<string[]> {
  const { services } = request;
  const session = await teamOf(request, id).session();
  if (!session.ok || services.files === undefined) return [];
  const limit = services.limits.max_page_size;
  const listed = unwrap(await (await services.files()).list(session.value, { limit }));
  return matching(
    listed.files.map(({ path }) => path),
    value,
  );
}

/** The places in the content of a message. */
async function parts(
  request: McpRequest,
  team: string,
  seq: string,
  value: string,
): Promise<string[]> {
  const [message] = /^\d{1,15}$/.test(seq) ? await messages(request, team, Number(seq) + 1, 1) : [];
  if (message?.seq !== Number(seq) || message.type !== "MultiModalMessage") return [];
  return matching(Object.keys(message.content), value);
}

/** The numbers of a team's latest messages, newest first. @param withParts only of those with several parts */
async function numbers(
  request: McpRequest,
  team: string,
  value: string,
  withParts: boolean,
): Promise<string[]> {
  const limit = request.services.limits.max_page_size;
  const latest = await messages(request, team, Number.MAX_SAFE_INTEGER, limit);
  const some = latest.filter(({ type }) => !withParts || type === "MultiModalMessage");
  return matching(
    some.map(({ seq }) => String(seq)),
    value,
  ).toReversed();
}

async function messages(request: McpRequest, team: string, before: number, limit: number) {
  const page = await teamOf(request, team).messages({ before, limit });
  return !page.ok && page.problem.status === 404 ? [] : unwrap(page).messages;
}

function matching(values: readonly string[], value: string): string[] {
  const text = value.toLowerCase();
  return values.filter((one) => one.toLowerCase().startsWith(text));
}

function refused(path: string, message: string) {
  return invalid("invalid_reference", `${path} ${message}.`, [{ path, message }]);
}
