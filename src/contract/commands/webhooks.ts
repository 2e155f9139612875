import * as z from "zod";
import { DELIVERY_STATUSES } from "../constants.ts";
import { listCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import { nothingSchema } from "../run.ts";
import {
  createdWebhookSchema,
  deliveryPageSchema,
  deliverySchema,
  putWebhookSchema,
  rotateSecretSchema,
  webhookSchema,
  webhookSecretSchema,
  webhookTestSchema,
  webhooksSchema,
} from "../webhook.ts";
import { command } from "./command.ts";

/** Webhooks of the tenant and their deliveries. */
export const webhookCommands = {
  listWebhooks: command({
    method: "get",
    path: "/v1/webhooks",
    ofTenant: true,
    summary: "The webhooks, by id",
    tag: "Webhooks",
    scope: "teams:read",
    answers: {
      200: { description: "Without their secrets.", schema: { Webhooks: webhooksSchema } },
    },
  }),

  putWebhook: command({
    method: "put",
    path: "/v1/webhooks/:webhook",
    ofTenant: true,
    summary: "Create or replace a webhook; its secret is shown when it is created",
    tag: "Webhooks",
    scope: "teams:write",
    body: putWebhookSchema,
    answers: {
      200: { description: "It is replaced; its secret stays.", schema: { Webhook: webhookSchema } },
      201: {
        description: "With its secret.",
        schema: { CreatedWebhook: createdWebhookSchema },
        location: true,
      },
    },
    problems: [409],
  }),

  webhook: command({
    method: "get",
    path: "/v1/webhooks/:webhook",
    ofTenant: true,
    id: "getWebhook",
    summary: "A webhook, without its secret",
    tag: "Webhooks",
    scope: "teams:read",
    object: "tenant",
    answers: { 200: { description: "The webhook.", schema: { Webhook: webhookSchema } } },
    problems: [404],
  }),

  deleteWebhook: command({
    method: "delete",
    path: "/v1/webhooks/:webhook",
    ofTenant: true,
    summary: "Delete a webhook and its deliveries",
    tag: "Webhooks",
    scope: "teams:write",
    object: "tenant",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
  }),

  defaultWebhookSecret: command({
    method: "get",
    path: "/v1/webhooks/default/secret",
    ofTenant: true,
    id: "getDefaultWebhookSecret",
    summary: "The tenant's secret, which signs for webhooks on runs that bring none",
    tag: "Webhooks",
    scope: "teams:write",
    object: "tenant",
    answers: {
      200: { description: "The secret.", schema: { WebhookSecret: webhookSecretSchema } },
    },
    problems: [422],
  }),

  rotateWebhookSecret: command({
    method: "post",
    path: "/v1/webhooks/:webhook/rotate_secret",
    ofTenant: true,
    summary: "Make a new secret; the one before is valid for another day, or ends now",
    tag: "Webhooks",
    scope: "teams:write",
    object: "tenant",
    body: rotateSecretSchema,
    bodyOptional: true,
    answers: {
      200: { description: "The new secret.", schema: { WebhookSecret: webhookSecretSchema } },
    },
    problems: [404],
  }),

  webhookDeliveries: command({
    method: "get",
    path: "/v1/webhooks/:webhook/deliveries",
    ofTenant: true,
    id: "listWebhookDeliveries",
    summary: "The deliveries of a webhook, newest first; of default those of webhooks on runs",
    tag: "Webhooks",
    scope: "teams:read",
    object: "tenant",
    query: (limits) =>
      z.strictObject({
        status: z.enum(DELIVERY_STATUSES).optional(),
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: {
      200: { description: "A page.", schema: { WebhookDeliveryPage: deliveryPageSchema } },
    },
    problems: [404],
  }),

  retryWebhookDelivery: command({
    method: "post",
    path: "/v1/webhooks/:webhook/deliveries/:delivery/retry",
    ofTenant: true,
    summary: "Send a delivery again, whatever its status",
    tag: "Webhooks",
    scope: "teams:write",
    object: "tenant",
    body: nothingSchema,
    bodyOptional: true,
    answers: {
      202: { description: "It is pending.", schema: { WebhookDelivery: deliverySchema } },
    },
    problems: [404, 409],
  }),

  testWebhook: command({
    method: "post",
    path: "/v1/webhooks/:webhook/test",
    ofTenant: true,
    summary: "Send an event webhook.test now, once",
    tag: "Webhooks",
    scope: "teams:write",
    object: "tenant",
    body: nothingSchema,
    bodyOptional: true,
    answers: { 200: { description: "How it went.", schema: { WebhookTest: webhookTestSchema } } },
    problems: [404],
  }),
};
