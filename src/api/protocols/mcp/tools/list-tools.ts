import type { Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import { beginningOf } from "../../../../core/cut.ts";
import { descriptionOf } from "../../../../core/component/description.ts";
import type { Template } from "../../../../core/component/template.ts";
import type { ListedTeam } from "../../../../contract/directory.ts";
import { invalid } from "../../../http/endpoint/problem.ts";
import {
  ANSWER_REQUEST,
  GET_RUN,
  LIST_TEAMS,
  READ_RUN,
  RUN_TEAM,
  RUN_TEMPLATE,
  scopeOfTool,
  STOP_RUN,
} from "../session/access.ts";
import { withRunView } from "../app/run-view.ts";
import { declaredRunOutputSchema } from "../run/output.ts";
import type { McpRequest } from "../session/services.ts";
import { ownTools, shownTool } from "./own-tools.ts";
import { describedTeam, offeredTools } from "./offered-tools.ts";
import { teamsOutputSchema, type ToolInputs, toolInputs } from "../run/tool-inputs.ts";
import { toolName } from "./tool-names.ts";

/** Characters of a template's description in the tool that runs any of them, and of all together. */
const LONGEST_LINE = 200;
const LONGEST_LINES = 6_000;

/** Own tools of teams on a page of the list. */
const PAGE = 50;
/** Names the last own tool of the page before. */
const CURSOR = /^tool:([a-zA-Z0-9_-]{1,64})$/;

/**
 * A page of the tools that the credential may call.
 *
 * @param pages whether the client shows the page of a run
 * @throws ProblemError for an invalid cursor
 */
export async function listTools(
  request: McpRequest,
  { pages, ...asked }: ListOptions & { pages: boolean },
): Promise<ToolPage> {
  const { tools, ...next } = await listAll(request, asked);
  const shown = pages
    ? tools.map((tool) => (hasNoView(tool) ? tool : withRunView(tool)))
    : tools.filter(({ name }) => name !== READ_RUN);
  return { tools: shown, ...next };
}

interface ListOptions {
  cursor: string | undefined;
  /** True if the client takes tasks. */
  tasks: boolean;
}

type ToolPage = { tools: Tool[]; nextCursor?: string };

/** True for a tool that is not shown with the page of a run. The page itself calls some of them. */
function hasNoView({ name }: Tool): boolean {
  return [LIST_TEAMS, READ_RUN, ANSWER_REQUEST, STOP_RUN].includes(name);
}

async function listAll(request: McpRequest, { cursor, tasks }: ListOptions): Promise<ToolPage> {
  const { services, principal, only } = request;
  const after = cursor === undefined ? "" : CURSOR.exec(cursor)?.[1];
  if (after === undefined) throw invalidCursor();
  const inputs = toolInputs(services.limits.max_wait_seconds, tasks);
  const may = (tool: Tool): boolean =>
    principal.scopes.includes(scopeOfTool(tool.name)) ||
    (tool.name === ANSWER_REQUEST && principal.scopes.includes("runs:write"));
  const common = commonTools(inputs).filter(may);
  if (only !== undefined) {
    const own = teamTool(toolName(only), only, descriptionOf(only.component), inputs.run);
    return { tools: [own, ...common.filter(({ name }) => name !== LIST_TEAMS)].filter(may) };
  }
  if (!principal.scopes.includes("runs:write")) return { tools: common };
  const { tools: typed, next } = await ownTools(request, after, PAGE);
  const first = cursor === undefined ? [...common, ...(await runTools(request, inputs))] : [];
  return {
    tools: [...first, ...typed.map(shownTool)],
    ...(next !== undefined && { nextCursor: `tool:${next}` }),
  };
}

/** The tools that run teams without an own one, and templates. */
async function runTools(request: McpRequest, inputs: ToolInputs): Promise<Tool[]> {
  const offered = await offeredTools(request);
  if (offered === undefined) return anyTools(inputs, await request.services.templates());
  return Promise.all(
    [...offered].map(async ([name, tool]) =>
      "team" in tool
        ? teamTool(name, tool.team, await describedTeam(request, tool.team), inputs.run)
        : templateTool(name, tool.template, inputs.template),
    ),
  );
}

const RUNS = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

function teamTool(
  name: string,
  { id, label }: Pick<ListedTeam, "id" | "label">,
  about: string,
  input: z.ZodType,
): Tool {
  return {
    name,
    title: label ?? id,
    description: `Gives a task to ${label === null ? "" : `"${label}", `}a team of AI agents (${about}), and returns its answer. The team remembers what was said before.`,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(declaredRunOutputSchema),
    annotations: RUNS,
    _meta: { "troupe/team-id": id },
  };
}

const OF_CONVERSATIONS =
  "The caller has a conversation of its own with it, which an earlier result names.";

function templateTool(
  name: string,
  { name: template, description }: Template,
  input: z.ZodType,
): Tool {
  return {
    name,
    title: template,
    description: `Gives a task to "${template}", a team of AI agents (${description}), and returns its answer. ${OF_CONVERSATIONS}`,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(declaredRunOutputSchema),
    annotations: RUNS,
    _meta: { "troupe/template": template },
  };
}

/** The tools that run any team and any template, where there are too many for one each. */
function anyTools(inputs: ToolInputs, templates: readonly Template[]): Tool[] {
  const team: Tool = {
    name: RUN_TEAM,
    title: "Run a team",
    description:
      "Gives a task to a team of AI agents, and returns its answer. The team remembers what was said before. list_teams says which teams there are and what they do.",
    inputSchema: inputSchema(inputs[RUN_TEAM]),
    outputSchema: outputSchema(declaredRunOutputSchema),
    annotations: RUNS,
  };
  if (templates.length === 0) return [team];
  const lines = templates.map(
    ({ name, description }) => `- ${name}: ${beginningOf(description, LONGEST_LINE)}`,
  );
  const template: Tool = {
    name: RUN_TEMPLATE,
    title: "Run a template",
    description: `Gives a task to a team of AI agents that is made of a template, and returns its answer. ${OF_CONVERSATIONS} list_teams lists the templates, too:\n${beginningOf(lines.join("\n"), LONGEST_LINES)}`,
    inputSchema: inputSchema(inputs[RUN_TEMPLATE]),
    outputSchema: outputSchema(declaredRunOutputSchema),
    annotations: RUNS,
  };
  return [team, template];
}

function commonTools(inputs: ToolInputs): Tool[] {
  return [
    {
      name: LIST_TEAMS,
      title: "List teams",
      description:
        "Lists the teams of AI agents and the templates with the tools that run them, latest activity first.",
      inputSchema: inputSchema(inputs[LIST_TEAMS]),
      outputSchema: outputSchema(teamsOutputSchema),
      annotations: { readOnlyHint: true },
    },
    {
      name: GET_RUN,
      title: "Get a run",
      description: "Waits for the end of a team's active run, and returns its answer.",
      inputSchema: inputSchema(inputs[GET_RUN]),
      outputSchema: outputSchema(declaredRunOutputSchema),
      annotations: { readOnlyHint: true },
    },
    {
      name: READ_RUN,
      title: "Read a run",
      description: "Reads what happens in a run, for the page that shows it.",
      inputSchema: inputSchema(inputs[READ_RUN]),
      annotations: { readOnlyHint: true },
      _meta: { ui: { visibility: ["app"] } },
    },
    {
      name: ANSWER_REQUEST,
      title: "Answer a request",
      description:
        "Gives a human's answer to a run that waits for it, and returns what the team says then. Ask the user first; never make an answer up.",
      inputSchema: inputSchema(inputs[ANSWER_REQUEST]),
      outputSchema: outputSchema(declaredRunOutputSchema),
      annotations: { readOnlyHint: false, idempotentHint: true },
    },
    {
      name: STOP_RUN,
      title: "Stop a run",
      description: "Cancels a team's run. What was said before stays.",
      inputSchema: inputSchema(inputs[STOP_RUN]),
      outputSchema: outputSchema(declaredRunOutputSchema),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    },
  ];
}

function inputSchema(schema: z.ZodType): Tool["inputSchema"] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  return { ...json, type: "object" } as Tool["inputSchema"];
}

function outputSchema(schema: z.ZodType): NonNullable<Tool["outputSchema"]> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return { ...json, type: "object" };
}

function invalidCursor() {
  return invalid("invalid_cursor", "cursor must be the nextCursor of an earlier page.", [
    { path: "cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
