import type { TenantGateway } from "../../../contract/gateways/tenant-gateway.ts";
import { scheduleCommands } from "../../../contract/commands/schedules.ts";
import { serviceCommands } from "../../../contract/commands/service.ts";
import { MONEY_LIMITS } from "../../../contract/tenant/tenant-limits.ts";
import { tenantCommands } from "../../../contract/commands/tenants.ts";
import { webhookCommands } from "../../../contract/commands/webhooks.ts";
import { isTenantId, type Principal } from "../../auth/principal.ts";
import { askerOf } from "../access/access-control.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { preparedComponent } from "../input/component.ts";
import { readTask } from "../input/task.ts";
import { checkMetadata } from "../input/body.ts";
import { requireWebhookUrl } from "../input/webhook-url.ts";
import { invalid, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantOf, tenantsOf } from "../endpoint/services.ts";
import { collectionEndpoints } from "./collections.ts";
import { connectionEndpoints } from "./connections.ts";
import { directoryEndpoints } from "./directory.ts";
import { fileEndpoints } from "./files.ts";
import { keyEndpoints } from "./keys.ts";
import { memoryEndpoints } from "./memories.ts";
import { statePartEndpoints } from "./state-parts.ts";

/** The endpoints that most conversations do without. Tables with few handlers have them here. */
export function managementEndpoints(services: Services): Endpoint[] {
  return [
    ...scheduleEndpoints(services),
    ...fileEndpoints(services),
    ...statePartEndpoints(services),
    ...collectionEndpoints(services),
    ...connectionEndpoints(services),
    ...directoryEndpoints(services),
    ...keyEndpoints(services),
    ...memoryEndpoints(services),
    ...tenantEndpoints(services),
    ...webhookEndpoints(services),
    ...serviceEndpoints(services),
  ];
}

function scheduleEndpoints(services: Services): Endpoint[] {
  const { limits } = services;

  return commandEndpoints(scheduleCommands, services, {
    async createSchedule({ body, principal, team, param, idempotency }) {
      checkMetadata(body.metadata, limits);
      const created = unwrap(
        await team.createSchedule({
          ...body,
          ...askerOf(principal, body.user),
          task: await readTask(body.task, services, { team }),
          ...(idempotency && { idempotency }),
        }),
      );
      const location = `/v1/teams/${param("team")}/schedules/${created.id}`;
      return json(created, 201, { location });
    },

    async changeSchedule({ body, principal, team, param }) {
      checkMetadata(body.metadata, limits);
      const { task, ...changes } = body;
      const { user, subject } = askerOf(principal, body.user);
      const changed = await team.changeSchedule(param("schedule"), {
        ...changes,
        // A token's run is for its own user, whoever made the schedule.
        ...((user !== undefined || principal.user === null) && { user, subject }),
        ...(task !== undefined && { task: await readTask(task, services, { team }) }),
      });
      return json(unwrap(changed));
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
      const id = param("tenant");
      if (!isTenantId(id)) {
        throw invalid("invalid_tenant", "The tenant's id is not acceptable.", [
          { path: "tenant", message: "must be 1 to 63 lower-case letters, digits and hyphens" },
        ]);
      }
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
  });
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

    async validateComponent({ body }) {
      const { notes } = await preparedComponent(body.component, services);
      return json({ valid: true, notes });
    },
  });
}
