import * as z from "zod";
import { integerParameter } from "../../contract/query-parameters.ts";
import { DELIVERY_STATUSES } from "../../contract/constants.ts";
import { putWebhookSchema, rotateSecretSchema } from "../../contract/webhooks/webhook.ts";
import type { WebhookGateway } from "../../contract/gateways/webhook-gateway.ts";
import { nothingSchema } from "../../contract/run.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { unwrap } from "../problem.ts";
import { type Services, tenantOf } from "../services.ts";
import { requireWebhookUrl } from "../input/webhook-url.ts";
import { defaultPage } from "./teams.ts";

/** Webhooks of the tenant and their deliveries. */
export function webhookEndpoints(services: Services): Endpoint[] {
  const { limits } = services;
  const tag = "Webhooks" as const;
  const webhooksOf = ({ tenant }: Principal): WebhookGateway => tenantOf(services, tenant);

  return [
    endpoint({
      method: "get",
      path: "/v1/webhooks",
      id: "listWebhooks",
      summary: "The webhooks, by id",
      tag,
      scope: "teams:read",
      answers: { 200: { description: "Without their secrets.", schema: "Webhooks" } },
      handle: async ({ principal }) => json({ webhooks: await webhooksOf(principal).webhooks() }),
    }),

    endpoint({
      method: "put",
      path: "/v1/webhooks/:webhook",
      id: "putWebhook",
      summary: "Create or replace a webhook; its secret is shown when it is created",
      tag,
      scope: "teams:write",
      body: putWebhookSchema,
      answers: {
        200: { description: "It is replaced; its secret stays.", schema: "Webhook" },
        201: { description: "With its secret.", schema: "CreatedWebhook", location: true },
      },
      problems: [409],
      async handle({ body, principal, param }) {
        requireWebhookUrl(services, body.url, "url");
        const id = param("webhook");
        const { created, ...webhook } = unwrap(await webhooksOf(principal).putWebhook(id, body));
        if (!created) return json(webhook);
        return json(webhook, 201, { location: `/v1/webhooks/${id}` });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/webhooks/:webhook",
      id: "getWebhook",
      summary: "A webhook, without its secret",
      tag,
      scope: "teams:read",
      answers: { 200: { description: "The webhook.", schema: "Webhook" } },
      problems: [404],
      handle: async ({ principal, param }) =>
        json(unwrap(await webhooksOf(principal).webhook(param("webhook")))),
    }),

    endpoint({
      method: "delete",
      path: "/v1/webhooks/:webhook",
      id: "deleteWebhook",
      summary: "Delete a webhook and its deliveries",
      tag,
      scope: "teams:write",
      answers: { 204: { description: "It is deleted." } },
      problems: [404],
      async handle({ principal, param }) {
        unwrap(await webhooksOf(principal).deleteWebhook(param("webhook")));
        return new Response(null, { status: 204 });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/webhooks/default/secret",
      id: "getDefaultWebhookSecret",
      summary: "The tenant's secret, which signs for webhooks on runs that bring none",
      tag,
      scope: "teams:write",
      answers: { 200: { description: "The secret.", schema: "WebhookSecret" } },
      problems: [422],
      handle: async ({ principal }) =>
        json(unwrap(await webhooksOf(principal).defaultWebhookSecret())),
    }),

    endpoint({
      method: "post",
      path: "/v1/webhooks/:webhook/rotate_secret",
      id: "rotateWebhookSecret",
      summary: "Make a new secret; the one before is valid for another day, or ends now",
      tag,
      scope: "teams:write",
      body: rotateSecretSchema,
      bodyOptional: true,
      answers: { 200: { description: "The new secret.", schema: "WebhookSecret" } },
      problems: [404],
      handle: async ({ principal, param, body }) =>
        json(unwrap(await webhooksOf(principal).rotateWebhookSecret(param("webhook"), body))),
    }),

    endpoint({
      method: "get",
      path: "/v1/webhooks/:webhook/deliveries",
      id: "listWebhookDeliveries",
      summary: "The deliveries of a webhook, newest first; of default those of webhooks on runs",
      tag,
      scope: "teams:read",
      query: z.strictObject({
        status: z.enum(DELIVERY_STATUSES).optional(),
        limit: integerParameter(1, limits.max_page_size).optional(),
        cursor: z.string().max(500).optional(),
      }),
      answers: { 200: { description: "A page.", schema: "WebhookDeliveryPage" } },
      problems: [404],
      async handle({ principal, param, query }) {
        const { status, cursor, limit = defaultPage(limits.max_page_size) } = query;
        const page = {
          limit,
          ...(status !== undefined && { status }),
          ...(cursor !== undefined && { cursor }),
        };
        return json(unwrap(await webhooksOf(principal).webhookDeliveries(param("webhook"), page)));
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/webhooks/:webhook/deliveries/:delivery/retry",
      id: "retryWebhookDelivery",
      summary: "Send a delivery again, whatever its status",
      tag,
      scope: "teams:write",
      body: nothingSchema,
      bodyOptional: true,
      answers: { 202: { description: "It is pending.", schema: "WebhookDelivery" } },
      problems: [404, 409],
      async handle({ principal, param }) {
        const webhooks = webhooksOf(principal);
        return json(
          unwrap(await webhooks.retryWebhookDelivery(param("webhook"), param("delivery"))),
          202,
        );
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/webhooks/:webhook/test",
      id: "testWebhook",
      summary: "Send an event webhook.test now, once",
      tag,
      scope: "teams:write",
      body: nothingSchema,
      bodyOptional: true,
      answers: { 200: { description: "How it went.", schema: "WebhookTest" } },
      problems: [404],
      handle: async ({ principal, param }) =>
        json(unwrap(await webhooksOf(principal).testWebhook(param("webhook")))),
    }),
  ];
}
