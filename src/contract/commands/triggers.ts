import * as z from "zod";
import { listCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import {
  createdTriggerSchema,
  putTriggerSchema,
  receivedEventSchema,
  rotateTriggerSchema,
  triggerDeliveryPageSchema,
  triggerPageSchema,
  triggerSchema,
  triggerSecretSchema,
} from "../team/trigger.ts";
import { command } from "./command.ts";

/** Triggers: runs that start when an event comes in from outside. */
export const triggerCommands = {
  triggers: command({
    method: "get",
    path: "/v1/teams/:team/triggers",
    id: "listTriggers",
    summary: "The team's triggers, by id",
    tag: "Triggers",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({ limit: pageSizeParameter(limits), cursor: listCursorParameter }),
    answers: {
      200: {
        description: "A page, without secrets.",
        schema: { TriggerPage: triggerPageSchema },
      },
    },
    problems: [404],
  }),

  putTrigger: command({
    method: "put",
    path: "/v1/teams/:team/triggers/:trigger",
    summary: "Create or replace a trigger: an address at which events start runs of the team",
    tag: "Triggers",
    scope: "teams:write",
    body: putTriggerSchema,
    answers: {
      200: {
        description: "It is replaced. Its secret stays, unless another one is given.",
        schema: { CreatedTrigger: createdTriggerSchema },
      },
      201: {
        description: "With its secret, if one was made.",
        schema: { CreatedTrigger: createdTriggerSchema },
        location: true,
      },
    },
    problems: [404, 409],
  }),

  trigger: command({
    method: "get",
    path: "/v1/teams/:team/triggers/:trigger",
    id: "getTrigger",
    summary: "A trigger, without its secret",
    tag: "Triggers",
    scope: "teams:read",
    answers: { 200: { description: "The trigger.", schema: { Trigger: triggerSchema } } },
    problems: [404],
  }),

  deleteTrigger: command({
    method: "delete",
    path: "/v1/teams/:team/triggers/:trigger",
    summary: "Delete a trigger with its list of deliveries; its runs stay",
    tag: "Triggers",
    scope: "teams:write",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
  }),

  rotateTriggerSecret: command({
    method: "post",
    path: "/v1/teams/:team/triggers/:trigger/rotate_secret",
    summary:
      "Give the trigger another secret; the one before is valid for another day, or ends now",
    tag: "Triggers",
    scope: "teams:write",
    body: rotateTriggerSchema,
    bodyOptional: true,
    answers: {
      200: { description: "The new secret.", schema: { TriggerSecret: triggerSecretSchema } },
    },
    problems: [404],
  }),

  triggerDeliveries: command({
    method: "get",
    path: "/v1/teams/:team/triggers/:trigger/deliveries",
    id: "listTriggerDeliveries",
    summary: "The events that came in during the last seven days, newest first",
    tag: "Triggers",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({ limit: pageSizeParameter(limits), cursor: listCursorParameter }),
    answers: {
      200: {
        description: "A page.",
        schema: { TriggerDeliveryPage: triggerDeliveryPageSchema },
      },
    },
    problems: [404],
  }),
};

/** The address of a trigger, outside of `/v1`. */
export const inboundCommands = {
  receiveEvent: command({
    method: "post",
    path: "/in/:tenant/:team/:trigger",
    summary: "An event of a sender that signs it, as the kind of the trigger says",
    tag: "Triggers",
    scope: null,
    reads: "file",
    answers: {
      200: {
        description:
          "The delivery has come in before, was filtered or skipped, or it is Slack's challenge.",
        schema: { ReceivedEvent: receivedEventSchema },
      },
      202: {
        description: "A run has started or waits for its turn.",
        schema: { ReceivedEvent: receivedEventSchema },
      },
    },
    problems: [400, 401, 409, 413, 415, 422, 429],
  }),
};
