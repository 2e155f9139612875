import type { Note } from "../../../core/component/component.ts";
import { within } from "../../../core/wait.ts";
import { componentReplaced, type Refused, type Result } from "../../../contract/result.ts";
import { isUnreadable } from "../../../contract/stored-data.ts";
import type { NotedTeam, TeamInfo } from "../../../contract/team.ts";
import { teamCommands } from "../../../contract/commands/teams.ts";
import { versionCommands } from "../../../contract/commands/versions.ts";
import { PLAYGROUND, type Scope } from "../../../contract/constants.ts";
import type { PutTeamTool, TeamTool } from "../../../contract/team-tool.ts";
import { authorOf, type Principal } from "../../auth/principal.ts";
import { permits, teamUserOf } from "../access/access-control.ts";
import { sharedMessage } from "./shared-message.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { preparedRunnable } from "../input/component.ts";
import { invalid, ProblemError, unwrap } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";
import { checkMetadata } from "../input/body.ts";
import { cursorOf, eventStreamHead, streamAnswer } from "../endpoint/sse.ts";
import { makeTemplateCollection } from "../input/template-collection.ts";
import { newTeamId, reservedId } from "../input/team-input.ts";

/** The milliseconds for which an answer about a team waits for the tenant's object. */
const TOOL_PATIENCE_MS = 1_000;

/** Teams: what they are made of, their state and their thread. */
export function teamEndpoints(services: Services): Endpoint[] {
  const { components, gateway, limits, tenants } = services;

  /** @param known the notes on a component that was just checked; otherwise the stored one is checked for them */
  const withNotes = async (
    { tenant }: Principal,
    result: Result<TeamInfo>,
    known?: Note[],
  ): Promise<NotedTeam> => {
    const team = unwrap(result);
    // The team is shown without its tool while the tenant's object does not answer.
    const asked = tenants && within(TOOL_PATIENCE_MS, tenants.tenant(tenant).tool(team.id));
    const [tool, notes] = await Promise.all([
      asked?.catch(() => undefined),
      known ?? components.notes(team.component),
    ]);
    return { ...team, ...(tool && { tool }), notes };
  };

  /** The tag is the version of the component, which `If-Match` of its replacement names. */
  const answer = (team: NotedTeam, status = 200, headers: Record<string, string> = {}): Response =>
    json(team, status, { etag: `"${team.component_version}"`, ...headers });

  const versions = commandEndpoints(versionCommands, services, {
    async restoreVersion({ team, param, principal, ifMatch }) {
      const version = param("version");
      const { component } = unwrap(await team.version(version));
      const { notes } = await preparedRunnable(component, services, {
        shown: component,
        tenant: principal.tenant,
      });
      const options = { by: authorOf(principal), versions: ifMatch };
      return answer(await withNotes(principal, await team.restoreVersion(version, options), notes));
    },
  });

  const teams = commandEndpoints(teamCommands, services, {
    async createTeam({ body, principal, idempotency }) {
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
        { tenant: principal.tenant, isDraft: true },
      );
      const id = await reservedId(
        tenants,
        principal,
        body.id ?? (await newTeamId(principal.tenant, "team", idempotency)),
        idempotency,
        body.tool && { tool: body.tool, isCopy: false },
      );
      if (template?.collection) {
        await makeTemplateCollection(template.collection, principal.tenant, services);
      }
      const team = await withNotes(
        principal,
        await gateway.team(principal.tenant, id).create({
          id,
          label: body.label ?? null,
          metadata: body.metadata ?? {},
          component,
          by: authorOf(principal),
          user: teamUserOf(principal, body.user),
          ...(idempotency && { idempotency }),
        }),
        notes,
      );
      return answer(team, 201, { location: `/v1/teams/${team.id}` });
    },

    getTeam: async ({ team, principal }) => answer(await withNotes(principal, await team.team())),

    async replaceComponent({ body, team, principal, ifMatch }) {
      const shown = unwrap(await team.team());
      const version = shown.component_version;
      const isStale = ifMatch !== undefined && !ifMatch.includes(String(version));
      const { component, notes } = await preparedRunnable(body.component, services, {
        shown: shown.component,
        tenant: principal.tenant,
      }).catch((error: unknown) => {
        // The component that has taken the place of the one that was read may lack its secrets.
        throw isStale ? new ProblemError(componentReplaced(version).problem) : error;
      });
      const options = { by: authorOf(principal), versions: ifMatch };
      return answer(
        await withNotes(principal, await team.replaceComponent(component, options), notes),
      );
    },

    async deleteTeam({ team, param, principal }) {
      const destroyed = await team.destroy();
      // A team that its tenant may list nevertheless.
      const lost = (refused: Refused): boolean =>
        refused.problem.code === "team_not_found" || isUnreadable(refused, { is: "team" });
      const reported = destroyed.ok ? destroyed.value.reported : !lost(destroyed);
      const forgotten =
        !reported &&
        (await tenants?.tenant(principal.tenant).forget(param("team"), principal.own_teams_of));
      if (forgotten !== true) unwrap(destroyed);
      return new Response(null, { status: 204 });
    },

    resetTeam: async ({ team, principal }) =>
      answer(await withNotes(principal, await team.reset())),

    async forkTeam({ body, team, param, principal, idempotency }) {
      checkMetadata(body.metadata, limits);
      const source = param("team");
      unwrap(await team.team());
      // The forks of a playground are drafts that nothing else calls.
      const isDraft = body.metadata?.[PLAYGROUND] === true;
      const tool = isDraft ? null : await tenants?.tenant(principal.tenant).tool(source);
      const copied = copiedTool(tool);
      // The key belongs to the team that is forked as much as to the body.
      const own = idempotency && { ...idempotency, hash: `${source} ${idempotency.hash}` };
      const id = await reservedId(
        tenants,
        principal,
        body.id ?? (await newTeamId(principal.tenant, `fork ${source}`, idempotency)),
        own,
        copied && { tool: copied, isCopy: true },
      );
      const fork = await withNotes(
        principal,
        await team.fork({
          id,
          turn: body.turn ?? null,
          by: authorOf(principal),
          ...(body.label !== undefined && { label: body.label }),
          ...(body.metadata && { metadata: body.metadata }),
          ...(own && { idempotency: own }),
        }),
      );
      return answer(fork, 201, { location: `/v1/teams/${fork.id}` });
    },

    async listMessages({ query, team }) {
      const { after, before, turn, limit } = query;
      requireOneDirection(query);
      const page = {
        ...(after !== undefined && { after }),
        ...(before !== undefined && { before }),
        ...(turn !== undefined && { turn }),
      };
      return json(unwrap(await team.messages({ ...page, limit })));
    },

    async getConversation({ query, team, principal }) {
      requireOneDirection(query);
      const page = unwrap(await team.messages(query));
      const { label, component } = unwrap(await team.team());
      const may = (scope: Scope): boolean => permits(principal.scopes, scope);
      return json({
        label,
        component: may("component:read") ? component : null,
        ...page,
        messages: page.messages.flatMap(({ seq, turn, ...message }) => {
          const shown = sharedMessage(message, may);
          return shown === undefined ? [] : [{ seq, turn, ...shown }];
        }),
      });
    },

    async streamConversation({ query: { after }, team, principal, c }) {
      if (c.req.raw.method === "HEAD") {
        unwrap(await team.team());
        return eventStreamHead();
      }
      const input = { run: null, after: cursorOf(c.req.header("last-event-id"), after) };
      const opened = unwrap(await team.stream(input));
      if ("done" in opened) return streamAnswer(opened);
      const { sharedFrames } = await import("./shared-frames.ts");
      const may = (scope: Scope): boolean => permits(principal.scopes, scope);
      return streamAnswer({ body: sharedFrames(opened.body, may) });
    },

    async listTurns({ query, team }) {
      requireOneDirection(query);
      return json(unwrap(await team.turns(query)));
    },
  });
  return [...teams, ...versions];
}

function copiedTool(tool: TeamTool | null | undefined): PutTeamTool | undefined {
  if (tool == null) return undefined;
  const { updated_at: _, ...copied } = tool;
  return copied;
}

/** @throws ProblemError 422 for a page both after and before something */
function requireOneDirection({ after, before }: { after?: unknown; before?: unknown }): void {
  if (after === undefined || before === undefined) return;
  throw new ProblemError({
    status: 422,
    code: "invalid_query",
    detail: "Page by after or by before, not by both.",
    errors: [{ path: "before", message: "cannot be combined with after" }],
  });
}
