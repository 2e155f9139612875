import type { TenantGateway } from "../../../contract/gateways/tenant-gateway.ts";
import { teamToolCommands } from "../../../contract/commands/team-tools.ts";
import { taskCommands } from "../../../contract/commands/tasks.ts";
import { scheduleCommands } from "../../../contract/commands/schedules.ts";
import { serviceCommands } from "../../../contract/commands/service.ts";
import { MONEY_LIMITS } from "../../../contract/tenant/tenant-limits.ts";
import { tenantCommands } from "../../../contract/commands/tenants.ts";
import { webhookCommands } from "../../../contract/commands/webhooks.ts";
import { isTenantId, type Principal } from "../../auth/principal.ts";
import { askerOf, callerOf } from "../access/access-control.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { preparedComponent, skillNotes } from "../input/component.ts";
import { readTask } from "../input/task.ts";
import { checkMetadata } from "../input/body.ts";
import { readReceivers } from "../input/receivers.ts";
import { requireWebhookUrl } from "../input/webhook-url.ts";
import { invalid, ProblemError, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantOf, tenantsOf } from "../endpoint/services.ts";
import { collectionEndpoints } from "./collections.ts";
import { connectionEndpoints } from "./connections.ts";
import { directoryEndpoints } from "./directory.ts";
import { fileEndpoints } from "./files.ts";
import { keyEndpoints } from "./keys.ts";
import { memoryEndpoints } from "./memories.ts";
import { notifyEndpoints } from "./notify.ts";
import { skillCommands } from "../../../contract/commands/skills.ts";
import { readSkill } from "../input/skill.ts";
import { statePartEndpoints } from "./state-parts.ts";
import { triggerEndpoints } from "./triggers.ts";

/** The time for which Cloudflare keeps the history of an object: 30 days. */
const MOST_RECOVERED_MS = 30 * 86_400_000;

/** The endpoints that most conversations do without. Tables with few handlers have them here. */
export function managementEndpoints(services: Services): Endpoint[] {
  return [
    ...scheduleEndpoints(services),
    ...commandEndpoints(taskCommands, services, {}),
    ...fileEndpoints(services),
    ...statePartEndpoints(services),
    ...collectionEndpoints(services),
    ...connectionEndpoints(services),
    ...directoryEndpoints(services),
    ...keyEndpoints(services),
    ...memoryEndpoints(services),
    ...notifyEndpoints(services),
    ...skillEndpoints(services),
    ...teamToolEndpoints(services),
    ...tenantEndpoints(services),
    ...triggerEndpoints(services),
    ...webhookEndpoints(services),
    ...serviceEndpoints(services),
  ];
}

function scheduleEndpoints(services: Services): Endpoint[] {
  const { limits } = services;

  return commandEndpoints(scheduleCommands, services, {
    async createSchedule({ body: { notify, ...body }, principal, team, param, idempotency, c }) {
      checkMetadata(body.metadata, limits);
      const by = { principal, team, request: c.req.raw };
      const created = unwrap(
        await team.createSchedule({
          ...body,
          ...askerOf(principal, body.user),
          task: await readTask(body.task, services, { team }),
          ...(notify?.length && { notify: await readReceivers(services, notify, by) }),
          ...(idempotency && { idempotency }),
        }),
      );
      const location = `/v1/teams/${param("team")}/schedules/${created.id}`;
      return json(created, 201, { location });
    },

    async changeSchedule({ body, principal, team, param, c }) {
      checkMetadata(body.metadata, limits);
      const { task, notify, ...changes } = body;
      const by = { principal, team, request: c.req.raw };
      const { user, subject } = askerOf(principal, body.user);
      const changed = await team.changeSchedule(param("schedule"), {
        ...changes,
        // A token's run is for its own user, whoever made the schedule.
        ...((user !== undefined || principal.user === null) && { user, subject }),
        ...(task !== undefined && { task: await readTask(task, services, { team }) }),
        ...(notify && { notify: await readReceivers(services, notify, by) }),
      });
      return json(unwrap(changed));
    },
  });
}

function teamToolEndpoints(services: Services): Endpoint[] {
  return commandEndpoints(teamToolCommands, services, {
    async putTool({ body, principal, team, param }) {
      unwrap(await team.creation());
      return json(unwrap(await tenantOf(services, principal.tenant).putTool(param("team"), body)));
    },

    async tool({ principal, team, param }) {
      unwrap(await team.creation());
      const tool = await tenantOf(services, principal.tenant).tool(param("team"));
      if (tool !== null) return json(tool);
      const detail = "The team has no tool of its own.";
      throw new ProblemError({ status: 404, code: "tool_not_found", detail });
    },

    async deleteTool({ principal, team, param }) {
      unwrap(await team.creation());
      unwrap(await tenantOf(services, principal.tenant).deleteTool(param("team")));
      return new Response(null, { status: 204 });
    },
  });
}

function tenantEndpoints(services: Services): Endpoint[] {
  return commandEndpoints(tenantCommands, services, {
    async listTenants({ query: { cursor, limit } }) {
      return json(
        unwrap(await tenantsOf(services).list({ limit, ...(cursor !== undefined && { cursor }) })),
      );
    },

    async putTenant({ body, param }) {
      const id = checkedTenant(param("tenant"));
      if (services.prices.empty) {
        const errors = MONEY_LIMITS.filter((name) => body.limits?.[name] != null).map((name) => ({
          path: `limits.${name}`,
          message: "needs the setting MODEL_PRICES: without prices no cost is known",
        }));
        if (errors.length > 0) {
          throw invalid("invalid_request", "The cost of runs is not known.", errors);
        }
      }
      return json(unwrap(await tenantOf(services, id).put(body)));
    },

    async recoverTeam({ body, param, principal }) {
      const time = Date.parse(body.time);
      const age = Date.now() - time;
      if (age < 0 || age > MOST_RECOVERED_MS) {
        throw invalid("invalid_request", "The body is invalid.", [
          { path: "time", message: "must be in the last 30 days" },
        ]);
      }
      const tenant = checkedTenant(param("tenant"));
      const team = services.gateway.team(tenant, body.team, callerOf(principal));
      unwrap(await team.recover(time));
      return new Response(null, { status: 202 });
    },

    async sealedVersion({ param, principal }) {
      const tenant = checkedTenant(param("tenant"));
      const team = services.gateway.team(tenant, param("team"), callerOf(principal));
      return json(unwrap(await team.sealedVersion(param("version"))));
    },
  });
}

/** The id of a tenant that an operator names. @throws ProblemError for one that no tenant can have */
function checkedTenant(id: string): string {
  if (isTenantId(id)) return id;
  throw invalid("invalid_tenant", "The tenant's id is not acceptable.", [
    { path: "tenant", message: "must be 1 to 63 lower-case letters, digits and hyphens" },
  ]);
}

function webhookEndpoints(services: Services): Endpoint[] {
  const webhooksOf = ({ tenant }: Principal): TenantGateway => tenantOf(services, tenant);

  return commandEndpoints(webhookCommands, services, {
    listWebhooks: async ({ principal }) =>
      json({ webhooks: await webhooksOf(principal).webhooks() }),

    async putWebhook({ body, principal, param }) {
      requireWebhookUrl(services, body.url, "url");
      const id = param("webhook");
      const { created, ...webhook } = unwrap(await webhooksOf(principal).putWebhook(id, body));
      if (!created) return json(webhook);
      return json(webhook, 201, { location: `/v1/webhooks/${id}` });
    },
  });
}

function serviceEndpoints(services: Services): Endpoint[] {
  return commandEndpoints(serviceCommands, services, {
    async listTemplates() {
      const templates = await services.templates();
      const shown = templates.map(({ name, description, task, component }) => ({
        name,
        description,
        ...(task !== undefined && { task }),
        component,
      }));
      return json({ templates: shown });
    },

    listComponents: async () => {
      const known = await services.components.definitions();
      const components = known.map(async (component) => {
        const models = await services.models(component);
        return models.length === 0 ? component : { ...component, models: [...models] };
      });
      return json({ components: await Promise.all(components) });
    },

    async validateComponent({ body, principal }) {
      const { component, notes } = await preparedComponent(body.component, services, {
        isDraft: true,
      });
      const skills = await skillNotes(component, services, principal.tenant);
      return json({ valid: true, notes: [...notes, ...skills] });
    },
  });
}

/** Skills of the tenant. */
function skillEndpoints(services: Services): Endpoint[] {
  return commandEndpoints(skillCommands, services, {
    async putSkill({ c, principal, param }) {
      const name = param("skill");
      const content = await readSkill(c.req.raw, name, services.limits);
      const tenant = tenantOf(services, principal.tenant);
      const { created, ...skill } = unwrap(await tenant.putSkill(name, content));
      if (!created) return json(skill);
      return json(skill, 201, { location: `/v1/skills/${name}` });
    },

    async getSkillFile({ principal, param, file, query: { version = null } }) {
      const tenant = tenantOf(services, principal.tenant);
      const bytes = unwrap(await tenant.skillBytes(param("skill"), version, file()));
      return new Response(bytes, {
        headers: {
          "content-type": "application/octet-stream",
          "content-length": String(bytes.length),
          // A file of a skill must not become a page of this origin.
          "content-disposition": "attachment",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
        },
      });
    },
  });
}
