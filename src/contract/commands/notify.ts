import * as z from "zod";
import { notifySchema, putNotifySchema } from "../notify.ts";
import { command } from "./command.ts";

const ticketQuery = z.strictObject({
  ticket: z.string().max(2_000).describe("As the address of the link has it."),
});

/** Messages about a team to people outside, and the pages of the links in them. */
export const notifyCommands = {
  putNotify: command({
    method: "put",
    path: "/v1/teams/:team/notify",
    summary: "Replace the receivers of messages about a team: Slack, Telegram, e-mail, webhooks",
    tag: "Webhooks",
    scope: "teams:write",
    body: putNotifySchema,
    answers: { 200: { description: "The receivers.", schema: { Notify: notifySchema } } },
    problems: [404],
  }),

  notify: command({
    method: "get",
    path: "/v1/teams/:team/notify",
    id: "getNotify",
    summary: "The receivers of messages about a team, without their secrets",
    tag: "Webhooks",
    scope: "teams:read",
    answers: { 200: { description: "The receivers.", schema: { Notify: notifySchema } } },
    problems: [404],
  }),

  answerPage: command({
    method: "get",
    path: "/v1/answer",
    summary: "The page of a link that answers one request. It changes nothing",
    tag: "Webhooks",
    scope: null,
    query: () => ticketQuery,
    answers: { 200: { description: "The question with a form.", media: "text/html" } },
    problems: [403, 404, 410],
  }),

  answerByLink: command({
    method: "post",
    path: "/v1/answer",
    summary: "Answer the request of a link with the form of its page",
    tag: "Webhooks",
    scope: null,
    reads: "form",
    query: () => ticketQuery,
    answers: { 200: { description: "A page that says so.", media: "text/html" } },
    problems: [403, 404, 409, 410, 413, 415],
  }),
};
