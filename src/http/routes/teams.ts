import * as z from "zod";
import type { Note } from "../../core/component/component.ts";
import type { Result } from "../../contract/result.ts";
import type { TeamInfo } from "../../contract/team.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { preparedRunnable } from "../input/component.ts";
import { invalid, ProblemError, unwrap } from "../problem.ts";
import { cursorParameter, integerParameter } from "../../contract/query-parameters.ts";
import { MAX_STATE_DOCUMENT_BYTES } from "../../contract/constants.ts";
import { UNREADABLE } from "../../contract/stored-data.ts";
import { nothingSchema } from "../../contract/run.ts";
import {
  componentBodySchema,
  createTeamSchema,
  forkTeamSchema,
  type NotedTeam,
  stateSchema,
} from "../../contract/team.ts";
import type { Services } from "../services.ts";
import { checkMetadata, newTeamId, reservedId } from "../input/team-input.ts";

/** Why a team could not be deleted that its tenant may list nevertheless. */
const LOST: ReadonlySet<string> = new Set(["team_not_found", UNREADABLE]);

/** Teams: what they are made of, their state and their thread. */
export function teamEndpoints(services: Services): Endpoint[] {
  const { components, gateway, limits, tenants } = services;
  const tag = "Teams" as const;

  /** @param known the notes on a component that was just checked; otherwise the stored one is checked for them */
  const withNotes = async (result: Result<TeamInfo>, known?: Note[]): Promise<NotedTeam> => {
    const team = unwrap(result);
    return { ...team, notes: known ?? (await components.notes(team.component)) };
  };

  return [
    endpoint({
      method: "post",
      path: "/v1/teams",
      id: "createTeam",
      summary: "Create a team from a component or a template",
      tag,
      scope: "teams:write",
      body: createTeamSchema,
      idempotent: true,
      answers: { 201: { description: "The team.", schema: "Team", location: true } },
      problems: [409, 429, 502],
      async handle({ body, principal, idempotency }) {
        checkMetadata(body.metadata, limits);
        const templates = body.template === undefined ? [] : await services.templates();
        const template = templates.find(({ name }) => name === body.template);
        if (body.template !== undefined && template === undefined) {
          throw invalid(
            "unknown_template",
            `There is no template ${JSON.stringify(body.template)}.`,
            [
              {
                path: "template",
                message: `must be one of ${templates.map(({ name }) => name).join(", ")}`,
              },
            ],
          );
        }
        // A template may need what this deployment does not have, a sandbox for example.
        const { component, notes } = await preparedRunnable(
          template?.component ?? body.component ?? {},
          services,
        );
        const id = await reservedId(
          tenants,
          principal,
          body.id ?? (await newTeamId(principal.tenant, "team", idempotency)),
          idempotency,
        );
        const team = await withNotes(
          await gateway.team(principal.tenant, id).create({
            id,
            label: body.label ?? null,
            metadata: body.metadata ?? {},
            component,
            ...(idempotency && { idempotency }),
          }),
          notes,
        );
        return json(team, 201, { location: `/v1/teams/${team.id}` });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team",
      id: "getTeam",
      summary: "A team, secrets redacted",
      tag,
      scope: "teams:read",
      answers: { 200: { description: "The team.", schema: "Team" } },
      problems: [404],
      handle: async ({ team }) => json(await withNotes(await team.team())),
    }),

    endpoint({
      method: "put",
      path: "/v1/teams/:team/component",
      id: "replaceComponent",
      summary: "Replace the component and keep the state that still fits",
      tag,
      scope: "teams:write",
      body: componentBodySchema,
      answers: { 200: { description: "The team.", schema: "Team" } },
      problems: [404, 409, 502],
      async handle({ body, team }) {
        const { component: shown } = unwrap(await team.team());
        const { component, notes } = await preparedRunnable(body.component, services, shown);
        return json(await withNotes(await team.replaceComponent(component), notes));
      },
    }),

    endpoint({
      method: "delete",
      path: "/v1/teams/:team",
      id: "deleteTeam",
      summary: "Stop the run and erase everything stored",
      tag,
      scope: "teams:write",
      answers: { 204: { description: "It is gone." } },
      problems: [404],
      async handle({ team, param, principal }) {
        const destroyed = await team.destroy();
        const told = destroyed.ok ? destroyed.value.told : !LOST.has(destroyed.problem.code);
        const forgotten = !told && (await tenants?.tenant(principal.tenant).forget(param("team")));
        if (forgotten !== true) unwrap(destroyed);
        return new Response(null, { status: 204 });
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/teams/:team/reset",
      id: "resetTeam",
      summary: "Back to the beginning: empty thread, empty contexts",
      tag,
      scope: "teams:write",
      body: nothingSchema,
      bodyOptional: true,
      answers: { 200: { description: "The team.", schema: "Team" } },
      problems: [404, 409],
      handle: async ({ team }) => json(await withNotes(await team.reset())),
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team/state",
      id: "getState",
      summary: "The last committed state",
      tag,
      scope: "teams:read",
      answers: { 200: { description: "The state.", schema: "State" } },
      problems: [404, 413],
      handle: async ({ team }) => json(unwrap(await team.saveState())),
    }),

    endpoint({
      method: "put",
      path: "/v1/teams/:team/state",
      id: "putState",
      summary: "Load a saved state, also one saved by AutoGen",
      tag,
      scope: "teams:write",
      body: stateSchema,
      maxBytes: MAX_STATE_DOCUMENT_BYTES,
      answers: { 204: { description: "The team has this state now." } },
      problems: [404, 409],
      async handle({ body, team }) {
        unwrap(await team.loadState(body));
        return new Response(null, { status: 204 });
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/teams/:team/fork",
      id: "forkTeam",
      summary: "A new team with the conversation up to the end of a finished turn",
      tag,
      scope: "teams:write",
      body: forkTeamSchema,
      bodyOptional: true,
      idempotent: true,
      answers: { 201: { description: "The new team.", schema: "Team", location: true } },
      problems: [404, 409, 429],
      async handle({ body, team, param, principal, idempotency }) {
        const source = param("team");
        unwrap(await team.team());
        // The key belongs to the team that is forked as much as to the body.
        const own = idempotency && { ...idempotency, hash: `${source} ${idempotency.hash}` };
        const id = await reservedId(
          tenants,
          principal,
          body.id ?? (await newTeamId(principal.tenant, `fork ${source}`, idempotency)),
          own,
        );
        const fork = await withNotes(
          await team.fork({ id, turn: body.turn ?? null, ...(own && { idempotency: own }) }),
        );
        return json(fork, 201, { location: `/v1/teams/${fork.id}` });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/teams/:team/messages",
      id: "listMessages",
      summary: "The thread, oldest first",
      tag,
      scope: "teams:read",
      query: z.strictObject({
        after: cursorParameter.optional().describe("Messages after this seq."),
        before: cursorParameter
          .optional()
          .describe("The last messages before this seq: pages back from the tail."),
        turn: cursorParameter.optional().describe("Only messages of this turn of the team."),
        limit: integerParameter(1, limits.max_page_size).optional(),
      }),
      answers: { 200: { description: "A page.", schema: "MessagePage" } },
      problems: [404],
      async handle({ query, team }) {
        const { after, before, turn, limit = defaultPage(limits.max_page_size) } = query;
        if (after !== undefined && before !== undefined) {
          throw new ProblemError({
            status: 422,
            code: "invalid_query",
            detail: "Page by after or by before, not by both.",
            errors: [{ path: "before", message: "cannot be combined with after" }],
          });
        }
        const page = {
          ...(after !== undefined && { after }),
          ...(before !== undefined && { before }),
          ...(turn !== undefined && { turn }),
        };
        return json(unwrap(await team.messages({ ...page, limit })));
      },
    }),
  ];
}

export function defaultPage(largest: number): number {
  return Math.min(50, largest);
}
