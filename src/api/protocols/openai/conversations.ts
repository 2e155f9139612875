import { authorOf } from "../../auth/principal.ts";
import { beginningOf } from "../../../core/cut.ts";
import * as z from "zod";
import type { KeptChange, TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import { type JsonObject, sortedJson } from "../../../core/json.ts";
import { readJson } from "../../http/input/body.ts";
import { preparedRunnable } from "../../http/input/component.ts";
import { checkMetadata } from "../../http/input/body.ts";
import { newTeamId, reservedId } from "../../http/input/team-input.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import type { InputEntry } from "./request/entry.ts";
import { parseRequest, refusedAt } from "./request/parse.ts";
import { entryOf, itemSchema } from "./request/response-items.ts";
import { conversationTeam, isConversation } from "./request/response-settings.ts";
import { findModel } from "./run/models.ts";
import { identified, type OpenAICall, type OpenAIRequest, teamOf } from "./run/services.ts";

/** Seconds without a run after which a conversation is erased: 30 days. */
const LIFETIME_S = 2_592_000;
const MOST_ITEMS = 20;
const NAME = "openai_conversation";

/** The stored data of a conversation's team. */
export const keptSchema = z.object({
  created_at: z.number(),
  metadata: z.record(z.string(), z.string()),
  /** Items that no run has been given yet. */
  items: z.array(z.intersection(z.object({ id: z.string() }), itemSchema)),
  /** True if it has the component of a model. */
  filled: z.boolean(),
});
export type Kept = z.output<typeof keptSchema>;

const metadataSchema = z.record(z.string(), z.string()).nullish();
export const itemsSchema = z
  .array(itemSchema)
  .max(MOST_ITEMS, `must have ${MOST_ITEMS} items at most`);
const createSchema = z.object({ items: itemsSchema.nullish(), metadata: metadataSchema });
const updateSchema = z.object({ metadata: metadataSchema });

/** A conversation that has no model yet waits for one. */
const PLACEHOLDER = {
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  component_type: "team",
  config: {
    participants: [
      {
        provider: "autogen_agentchat.agents.UserProxyAgent",
        component_type: "agent",
        config: { name: "user", description: "The user." },
      },
    ],
  },
};

/** `POST /conversations`: a team that gets its component with the first response. @throws ProblemError */
export async function createConversation(call: OpenAICall): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const { items, metadata } = parseRequest(createSchema, value);
  checkMetadata(metadata ?? {}, call.services.limits);
  const identity = sortedJson({ items: items ?? [], metadata: metadata ?? {} });
  const request = await identified(call, identity);
  const { services, principal, idempotency } = request;
  const { component } = await preparedRunnable({ ...PLACEHOLDER }, services);
  const wanted = await newTeamId(principal.tenant, "conversation", idempotency);
  const id = await reservedId(services.tenants, principal, wanted, idempotency);
  const team = teamOf(request, id);
  const { created_at } = unwrap(
    await team.create({
      id,
      label: null,
      metadata: conversationTeam(),
      component,
      by: authorOf(principal),
      user: principal.own_teams_of,
      expires_in: LIFETIME_S,
      ...(idempotency && { idempotency }),
    }),
  );
  const kept: Kept = {
    created_at: Math.floor(Date.parse(created_at) / 1000),
    metadata: metadata ?? {},
    items: withIds(items ?? []),
    filled: false,
  };
  unwrap(await team.keep(NAME, kept as unknown as JsonObject));
  return json(conversationObject(id, kept));
}

/** `GET /conversations/{id}`: any team is one. @throws ProblemError 404 */
export async function getConversation(call: OpenAICall, id: string): Promise<Response> {
  const { kept } = await findConversationTeam(call, id);
  return json(conversationObject(id, kept));
}

/** `POST /conversations/{id}`. @throws ProblemError */
export async function updateConversation(call: OpenAICall, id: string): Promise<Response> {
  const { value } = await readJson(call.raw, call.services.limits);
  const { metadata } = parseRequest(updateSchema, value);
  checkMetadata(metadata ?? {}, call.services.limits);
  const { team, kept } = await findConversationTeam(call, id);
  const change = { set: { metadata: metadata ?? {} } };
  return json(conversationObject(id, (await amend(team, kept, change)).kept));
}

/** `DELETE /conversations/{id}`: erases one that was made here. @throws ProblemError 404 or 405 */
export async function deleteConversation(call: OpenAICall, id: string): Promise<Response> {
  const { team, own } = await findConversationTeam(call, id);
  if (!own) {
    throw new ProblemError(
      {
        status: 405,
        code: "conversation_not_deletable",
        detail: `This conversation is that of a team. DELETE /v1/teams/${id} erases the team.`,
      },
      { allow: "GET, POST" },
    );
  }
  unwrap(await team.destroy());
  return json({ id, object: "conversation.deleted", deleted: true });
}

/** The parts of a conversation that a response needs. */
export interface OpenedConversation {
  /** Entries that were not given to a run yet. */
  entries: InputEntry[];
  /** Notes that a run has it. @throws ProblemError */
  given: () => Promise<void>;
}

/**
 * Gives a conversation that has no model yet the component of one.
 *
 * @throws ProblemError for the model of a team, which has a conversation of its own
 */
export async function openConversation(
  request: OpenAIRequest,
  id: string,
  model: string,
): Promise<OpenedConversation> {
  const team = teamOf(request, id);
  const found = await team.kept(NAME);
  const kept = found.ok && found.value !== null ? keptSchema.parse(found.value) : undefined;
  if (kept === undefined) return { entries: [], given: async () => undefined };
  if (!kept.filled) {
    const named = await findModel(request, model);
    if (named.type === "team") {
      throw refusedAt(
        "conversation",
        `must be the team of the model, ${named.team.id}, or be left out: a team has one conversation`,
      );
    }
    const { component } = await preparedRunnable({ ...named.template.component }, request.services);
    unwrap(await team.replaceComponent(component, { by: authorOf(request.principal) }));
    await amend(team, kept, { set: { filled: true } });
  }
  return {
    entries: kept.items.map((item, index) => entryOf(item, `items[${index}]`)),
    // Items that were added meanwhile wait for the next run.
    given: async () => {
      await amend(team, kept, { remove: kept.items.map((item) => item.id) });
    },
  };
}

export async function findConversationTeam(
  call: OpenAIRequest,
  id: string,
): Promise<{ team: TeamGateway; own: boolean; kept: Kept }> {
  const team = teamOf(call, id);
  const found = await team.team();
  if (!found.ok) {
    if (found.problem.status !== 404) unwrap(found);
    throw new ProblemError({
      status: 404,
      code: "conversation_not_found",
      detail: `There is no conversation ${JSON.stringify(beginningOf(id, 100))}.`,
    });
  }
  const { metadata, created_at } = found.value;
  const stored = unwrap(await team.kept(NAME));
  const created = Math.floor(Date.parse(created_at) / 1000);
  const kept =
    stored === null
      ? { created_at: created, metadata: {}, items: [], filled: true }
      : keptSchema.parse(stored);
  return { team, own: isConversation(metadata), kept };
}

/** Changes what a conversation keeps, in one step of its team. @throws ProblemError */
export async function amend(
  team: TeamGateway,
  kept: Kept,
  change: KeptChange,
): Promise<{ kept: Kept; changed: boolean; bytes: number }> {
  const { value, ...amended } = unwrap(
    await team.amend(NAME, kept as unknown as JsonObject, change),
  );
  return { kept: keptSchema.parse(value), ...amended };
}

export function conversationObject(id: string, { created_at, metadata }: Kept): JsonObject {
  return { id, object: "conversation", created_at, metadata };
}

export function withIds(items: readonly z.output<typeof itemSchema>[]): Kept["items"] {
  return items.map((item) => ({ ...item, id: `item_${crypto.randomUUID()}` }));
}
