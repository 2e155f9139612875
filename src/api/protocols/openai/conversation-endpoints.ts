import * as z from "zod";
import { integerParameter } from "../../../contract/query-parameters.ts";
import { type CheckedRequest, type Endpoint, endpoint } from "../../http/endpoint/endpoint.ts";
import type { OpenAICall } from "./run/services.ts";

const MOST_ITEMS = 100;
const DEFAULT_ITEMS = 20;

/** OpenAI's clients send `include` as a list, with brackets. */
export const includeQuery = z.strictObject({
  include: z.string().optional().describe("Has no effect."),
  "include[]": z.array(z.string()).optional().describe("Has no effect."),
});

/** A page of items. */
export const itemsQuery = includeQuery.extend({
  limit: integerParameter(1, MOST_ITEMS).default(DEFAULT_ITEMS),
  order: z.enum(["asc", "desc"], 'must be "asc" or "desc"').default("desc"),
  after: z.string().max(100).optional().describe("The id of the last item that the client has."),
});

/** OpenAI's conversations: teams, with items that no run has been given yet. */
export function conversationEndpoints(
  base: string,
  common: Pick<Endpoint, "tag" | "namesTeam" | "ignoresUnknownQuery" | "refusal">,
  callOf: (call: CheckedRequest) => OpenAICall,
): Endpoint[] {
  const all = `${base}/conversations`;
  const one = `${all}/:conversation`;
  const item = `${one}/items/:item{[^/]+}`;
  const answers = (description: string) => ({ 200: { description, media: "application/json" } });
  const load = () => import("./conversations.ts");
  const loadItems = () => import("./conversation-items.ts");
  return [
    endpoint({
      ...common,
      method: "post",
      path: all,
      id: "openAICreateConversation",
      summary: "A conversation, which gets its team with the first response",
      scope: "teams:write",
      reads: "message",
      idempotent: true,
      answers: answers("The conversation."),
      problems: [400],
      handle: async (call) => (await load()).createConversation(callOf(call)),
    }),
    endpoint({
      ...common,
      method: "get",
      path: one,
      id: "openAIGetConversation",
      summary: "A conversation",
      scope: "runs:read",
      answers: answers("The conversation."),
      problems: [400, 404],
      handle: async (call) =>
        (await load()).getConversation(callOf(call), call.param("conversation")),
    }),
    endpoint({
      ...common,
      method: "post",
      path: one,
      id: "openAIUpdateConversation",
      summary: "Replace the metadata of a conversation",
      scope: "runs:write",
      reads: "message",
      answers: answers("The conversation."),
      problems: [400, 404],
      handle: async (call) =>
        (await load()).updateConversation(callOf(call), call.param("conversation")),
    }),
    endpoint({
      ...common,
      method: "delete",
      path: one,
      id: "openAIDeleteConversation",
      summary: "Erase a conversation that was made here",
      scope: "teams:write",
      answers: answers("It is erased."),
      problems: [400, 404, 405],
      handle: async (call) =>
        (await load()).deleteConversation(callOf(call), call.param("conversation")),
    }),
    endpoint({
      ...common,
      method: "get",
      path: `${one}/items`,
      id: "openAIListConversationItems",
      summary: "The messages of a conversation, and what no response has been given yet",
      scope: "runs:read",
      query: itemsQuery,
      answers: answers("A page of items."),
      problems: [400, 404],
      async handle(call) {
        return (await loadItems()).listItems(callOf(call), call.param("conversation"), call.query);
      },
    }),
    endpoint({
      ...common,
      method: "post",
      path: `${one}/items`,
      id: "openAIAddConversationItems",
      summary: "Add items, which the next response is given first",
      scope: "runs:write",
      reads: "message",
      query: includeQuery,
      answers: answers("The items."),
      problems: [400, 404],
      handle: async (call) =>
        (await loadItems()).addItems(callOf(call), call.param("conversation")),
    }),
    endpoint({
      ...common,
      method: "get",
      path: item,
      id: "openAIGetConversationItem",
      summary: "An item of a conversation",
      scope: "runs:read",
      query: includeQuery,
      answers: answers("The item."),
      problems: [400, 404],
      handle: async (call) =>
        (await loadItems()).getItem(callOf(call), call.param("conversation"), call.param("item")),
    }),
    endpoint({
      ...common,
      method: "delete",
      path: item,
      id: "openAIDeleteConversationItem",
      summary: "Remove an item that no response has been given yet",
      scope: "runs:write",
      answers: answers("The conversation."),
      problems: [400, 404, 405],
      handle: async (call) =>
        (await loadItems()).deleteItem(
          callOf(call),
          call.param("conversation"),
          call.param("item"),
        ),
    }),
  ];
}
