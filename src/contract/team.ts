import * as z from "zod";
import type { Note } from "../core/component/component.ts";
import { isJsonObject } from "../core/json.ts";
import type { KnownComponent } from "../core/registry/registry.ts";
import {
  type ComponentModelSchema,
  describedObject,
  idSchema,
  openObjectSchema,
  timeSchema,
} from "./common.ts";
import { messageSchema } from "./message.ts";
import { costSchema, tokenUsageSchema } from "./usage/usage-schemas.ts";
import { putTeamToolSchema, teamToolSchema } from "./team-tool.ts";
import { userSchema } from "./user.ts";

/** Component JSON of a request: any object. The registry checks its content and reports more than a schema can. */
export const componentInputSchema = openObjectSchema.meta({
  type: "object",
  description: "A team or a single agent as AutoGen's component JSON.",
  properties: {
    provider: { type: "string", description: "A name from GET /v1/components." },
    component_type: { type: ["string", "null"] },
    version: { type: ["integer", "null"] },
    component_version: { type: ["integer", "null"] },
    description: { type: ["string", "null"] },
    label: { type: ["string", "null"] },
    config: { type: "object", additionalProperties: true },
  },
  required: ["provider", "config"],
  examples: [
    {
      provider: "autogen_agentchat.agents.UserProxyAgent",
      component_type: "agent",
      config: { name: "human" },
    },
  ],
});

export const metadataSchema = describedObject("Kept as it is.");

const teamLabelSchema = z.string().max(200, "must be at most 200 characters").nullable();

export const forkedFromSchema = z
  .object({ team_id: idSchema, turn: z.number().int().min(0) })
  .nullable()
  .describe("Where its conversation comes from, if it is a fork.");

export const createTeamSchema = z
  .strictObject({
    component: componentInputSchema.optional(),
    template: z.string().max(200).optional().describe("A name from GET /v1/templates."),
    id: idSchema.optional().describe("Left out, an unguessable one is made."),
    label: teamLabelSchema.optional(),
    metadata: metadataSchema.optional(),
    user: userSchema
      .optional()
      .describe("To whom it belongs: callers who have only their own teams reach it as this user."),
    tool: putTeamToolSchema.optional().describe("Its own tool for clients of MCP."),
  })
  .refine(({ component, template }) => (component === undefined) !== (template === undefined), {
    error: "give a component or a template, one of them",
    path: ["component"],
  });

export const forkTeamSchema = z.strictObject({
  turn: z
    .number()
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe(
      "The turn at whose end the fork begins, as Team.turn, Run.turn and a message's turn name it. Left out, the last finished one; 0 is before the first.",
    ),
  id: idSchema.optional().describe("The id of the new team. Left out, an unguessable one is made."),
  label: teamLabelSchema.optional().describe("Left out, that of the forked team."),
  metadata: metadataSchema.optional().describe("Left out, that of the forked team."),
});

export const componentBodySchema = z.strictObject({ component: componentInputSchema });

/** The schema of a body with a component; named, so that declarations of the package name it, too. */
export interface OrComponent<Wrapped extends z.ZodType> extends z.ZodType<z.output<Wrapped>> {}

/**
 * The body of a request with a component, which may also be a dump as it is: a body with `provider` at the top is the component,
 * whole. The union only describes both forms, because its first member takes any object; `wrapped` checks.
 */
export function orComponent<Wrapped extends z.ZodType>(wrapped: Wrapped): OrComponent<Wrapped> {
  return z
    .union([componentInputSchema, wrapped], { error: "must be a JSON object" })
    .transform((body): unknown =>
      isJsonObject(body) && "provider" in body ? { component: body } : body,
    )
    .pipe(wrapped);
}

export const stateSchema = describedObject(
  "State as AutoGen's save_state() writes it, plus the key troupe with what AutoGen forgets.",
);

const notesSchema = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .describe(
    "Remarks on a valid component: substitutes for other classes, config without effect. Paths as in a problem's errors.",
  ) satisfies z.ZodType<Note[]>;

/** Seconds without a run after which a team erases itself, as the API shows it. */
export const expiresInSchema = z
  .number()
  .int()
  .min(1)
  .nullable()
  .describe("Seconds without a run after which it is erased; null: it stays.");

/** The caller and the team of a conversation, as the API shows them. */
export const conversationSchema = z
  .object({
    agent_id: idSchema.describe("The team whose component it was made from."),
    caller: z
      .string()
      .nullable()
      .describe("The name of the key, or the subject of the token, that began it."),
  })
  .nullable()
  .describe("The conversation that a caller has with a team over A2A; null for other teams.");

/** The user of a team, as the API shows it. */
export const teamUserSchema = z
  .string()
  .nullable()
  .describe("To whom it belongs; null for a team of the tenant.");

export const teamSchema = z.object({
  id: idSchema,
  label: z.string().nullable(),
  metadata: metadataSchema,
  component: openObjectSchema
    .meta({ $ref: "#/components/schemas/Component" })
    .describe("Secrets are redacted.") as ComponentModelSchema,
  component_version: z.number().int().min(1).describe("Counts replacements of the component."),
  status: z.enum(["idle", "running", "waiting", "paused"]),
  active_run: z.string().nullable(),
  usage: tokenUsageSchema,
  cost: costSchema,
  turn: z
    .number()
    .int()
    .min(0)
    .describe(
      "The last finished turn. Counts over all runs; a reset, a loaded state and another component count as one, too.",
    ),
  forked_from: forkedFromSchema,
  conversation: conversationSchema,
  user: teamUserSchema,
  expires_in: expiresInSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
  tool: teamToolSchema.optional().describe("Its own tool for clients of MCP; left out for none."),
  notes: notesSchema,
});

/** A team with the notes on its component. */
export type NotedTeam = z.infer<typeof teamSchema>;
/** A team as its object shows it; secrets in `component` are redacted. Times are ISO 8601 UTC. */
export type TeamInfo = Omit<NotedTeam, "notes" | "tool">;

const numbered = {
  seq: z.number().int().min(0),
  turn: z
    .number()
    .int()
    .min(0)
    .describe("The team's turn it was said in; above Team.turn while that turn is in progress."),
};

export const messagePageSchema = z.object({
  messages: z.array(z.intersection(z.object(numbered), messageSchema)),
  next_after: z.number().int().nullable().describe("Pass as after; null at the end."),
  next_before: z.number().int().nullable().describe("Pass as before; null at the beginning."),
});

/** A page of a conversation as far as a credential may see it. */
export const sharedConversationSchema = messagePageSchema.extend({
  label: z.string().nullable(),
  messages: messagePageSchema.shape.messages.describe(
    "Messages and the names of called tools, oldest first. Arguments and results need the scope tools:read, contents of attached files files:read.",
  ),
  component: openObjectSchema
    .nullable()
    .describe("With the scope component:read; secrets are shown as **********."),
});

export type SharedConversation = z.infer<typeof sharedConversationSchema>;

export type MessagePage = z.infer<typeof messagePageSchema>;

/** Selects the messages after a cursor, or the last ones before it; only those of `turn` if it is given. */
export interface MessageQuery {
  after?: number;
  before?: number;
  turn?: number;
  limit: number;
}

export const templatesSchema = z.object({
  templates: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      task: z.string().describe("A task that shows what it can do.").optional(),
      component: componentInputSchema,
    }),
  ),
});

/** A model that a class of model clients can name, and what the server knows about it. */
const offeredModelSchema = z.object({
  name: z.string(),
  context_window: z.number().int().nullable().describe("Tokens; null if it is not published."),
  input_price: z.number().nullable().describe("Per million tokens; null without a price."),
  output_price: z.number().nullable(),
  has_key: z.boolean().describe("True if the server has a key for it, or needs none."),
});
export type OfferedModel = z.output<typeof offeredModelSchema>;

export const componentsSchema = z.object({
  components: z.array(
    z.object({
      provider: z.string(),
      component_type: z.string(),
      component_version: z.number().int().describe("The config version that is written."),
      config: describedObject("JSON Schema of its config."),
      models: z.array(offeredModelSchema).optional().describe("Models of a model client."),
    }),
  ),
}) satisfies z.ZodType<{ components: KnownComponent[] }>;

export const validSchema = z.object({ valid: z.literal(true), notes: notesSchema });
