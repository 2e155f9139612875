import { beginningOf } from "../../../core/cut.ts";
import * as z from "zod";
import type { MessagePage } from "../../../contract/team.ts";
import { asJson, type JsonObject } from "../../../core/json.ts";
import { toText } from "../../../core/messages/views.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { readJson } from "../../http/input/body.ts";
import { ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import {
  amend,
  findConversationTeam,
  itemsSchema,
  type Kept,
  conversationObject,
  withIds,
} from "./conversations.ts";
import { parseRequest, refusedAt } from "./request/parse.ts";
import type { OpenAICall } from "./run/services.ts";

const addSchema = z.object({ items: itemsSchema });

/** `POST /conversations/{id}/items`: the next response is given them first. @throws ProblemError */
export async function addItems(call: OpenAICall, id: string): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const { items } = parseRequest(addSchema, value);
  const { team, kept } = await findConversationTeam(call, id);
  const added = withIds(items);
  // The next response is given all items, so they must be small enough for one.
  const { max_body_bytes: mostBytes } = call.services.limits;
  const add = added as unknown as JsonObject[];
  const { changed, bytes } = await amend(team, kept, { add, mostBytes });
  if (!changed) {
    throw refusedAt(
      "items",
      `would be ${bytes} bytes with those that wait for a response; at most ${mostBytes} are allowed`,
    );
  }
  return json(list(added.map(shownItem), false));
}

/** The items of a list that a client wants. */
export interface ItemPage {
  limit: number;
  order: "asc" | "desc";
  /** The id of the last one that it has. */
  after?: string | undefined;
}

/** `GET /conversations/{id}/items`. @throws ProblemError */
export async function listItems(
  call: OpenAICall,
  id: string,
  { limit, order, after }: ItemPage,
): Promise<Response> {
  const { team, kept } = await findConversationTeam(call, id);
  const pending = kept.items.map(shownItem);
  const isPending = after !== undefined && kept.items.some((item) => item.id === after);
  const seq = after === undefined || isPending ? undefined : seqOf(after);
  if (after !== undefined && !isPending && seq === undefined) throw noItem("conversation", after);
  if (order === "asc") {
    if (isPending)
      return json(list(after === undefined ? pending : following(pending, after), false));
    const page = unwrap(await team.messages({ after: seq ?? 0, limit: limit + 1 }));
    const items = [...page.messages.map(messageItem), ...pending];
    return json(list(items.slice(0, limit), items.length > limit));
  }
  const first =
    seq === undefined ? following(pending.toReversed(), isPending ? after : undefined) : [];
  const before = seq ?? Number.MAX_SAFE_INTEGER;
  const page = unwrap(await team.messages({ before, limit: limit + 1 }));
  const items = [...first, ...page.messages.map(messageItem).toReversed()];
  return json(list(items.slice(0, limit), items.length > limit));
}

/** `GET /conversations/{id}/items/{item}`. @throws ProblemError 404 */
export async function getItem(call: OpenAICall, id: string, item: string): Promise<Response> {
  const { team, kept } = await findConversationTeam(call, id);
  const pending = kept.items.find((one) => one.id === item);
  if (pending !== undefined) return json(shownItem(pending));
  const seq = seqOf(item);
  const page =
    seq === undefined ? undefined : unwrap(await team.messages({ after: seq - 1, limit: 1 }));
  const found = page?.messages.map(messageItem).find((one) => one.id === item);
  if (found === undefined) throw noItem("conversation", item);
  return json(found);
}

/** `DELETE /conversations/{id}/items/{item}`: one that no run has been given. @throws ProblemError 404 or 405 */
export async function deleteItem(call: OpenAICall, id: string, item: string): Promise<Response> {
  const { team, kept } = await findConversationTeam(call, id);
  if (!kept.items.some((one) => one.id === item)) {
    await getItem(call, id, item);
    throw new ProblemError(
      {
        status: 405,
        code: "item_not_deletable",
        detail: "The item is part of the team's log, which stays whole.",
      },
      { allow: "GET" },
    );
  }
  await amend(team, kept, { remove: [item] });
  return json(conversationObject(id, kept));
}

function shownItem(item: Kept["items"][number]): JsonObject & { id: string } {
  if (item.type !== "message")
    return { ...(asJson(item) as JsonObject), id: item.id, status: "completed" };
  const { id, type, role, content } = item;
  const kind = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: kind, text: content }] : content;
  const shownParts = (parts as JsonObject[]).map(completed);
  return { id, type, role, status: "completed", content: shownParts };
}

/** A part with the fields that clients may leave out, and need in answers. */
function completed(part: JsonObject): JsonObject {
  switch (part.type) {
    case "output_text":
      return { ...part, annotations: part.annotations ?? [] };
    case "input_image":
      return { ...part, detail: part.detail ?? "auto" };
    default:
      return part;
  }
}

/** A message of the team as an item. Its id has the place of the message. */
function messageItem(message: MessagePage["messages"][number]): JsonObject & { id: string } {
  const { seq, id, source } = message;
  const role = source === "user" || source === "system" ? source : "assistant";
  const text = toText(message);
  return {
    id: `msg_${seq}_${id}`,
    type: "message",
    role,
    status: "completed",
    content: [
      role === "assistant"
        ? { type: "output_text", text, annotations: [] }
        : { type: "input_text", text },
    ],
  };
}

function seqOf(item: string): number | undefined {
  const [, seq] = /^msg_(\d{1,15})_/.exec(item) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

function following<T extends { id: string }>(items: readonly T[], after: string | undefined): T[] {
  return items.slice(items.findIndex(({ id }) => id === after) + 1);
}

export function noItem(place: "conversation" | "response", id: string): ProblemError {
  return new ProblemError({
    status: 404,
    code: "item_not_found",
    detail: `The ${place} has no item ${JSON.stringify(beginningOf(id, 100))}.`,
  });
}

/** A page of items, as OpenAI's clients read it. */
export function list<Item extends { id?: string }>(data: readonly Item[], has_more: boolean) {
  const first_id = data.at(0)?.id ?? null;
  return { object: "list", data, first_id, last_id: data.at(-1)?.id ?? null, has_more };
}
