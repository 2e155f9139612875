import * as z from "zod";
import { fromBase64, toBase64 } from "../../../../core/base64.ts";
import { contentOf, outputOf, textOf } from "./content.ts";
import type { InputEntry } from "./entry.ts";
import { refusedAt } from "./parse.ts";

const contentSchema = z.union(
  [z.string(), z.array(z.looseObject({ type: z.string() }))],
  "must be a text or a list of parts",
);

/** Items of a response's input, by their `type`; one without is a message. */
export const itemSchema = z.union([
  z.object({
    type: z.literal("message").default("message"),
    role: z.enum(
      ["user", "assistant", "system", "developer"],
      "must be user, assistant, system or developer",
    ),
    content: contentSchema.nullish().transform((content) => content ?? ""),
  }),
  z.object({
    type: z.literal("function_call"),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal("function_call_output"),
    call_id: z.string(),
    output: contentSchema,
  }),
  z.object({
    type: z.literal("mcp_approval_response"),
    approval_request_id: z.string(),
    approve: z.boolean(),
    reason: z.string().nullish(),
  }),
  z.object({ type: z.literal("compaction"), encrypted_content: z.string() }),
  // Items of an earlier response. The team's log has them.
  z.object({
    type: z.enum(["reasoning", "mcp_call", "mcp_approval_request", "item_reference"]),
  }),
  // Items of a response of another server: calls of its hosted tools.
  z.object({
    type: z
      .string()
      .regex(/^(mcp_list_tools|(?!function_)[a-z_]{1,60}_call(_output)?)$/)
      .transform(() => "item_reference" as const),
  }),
]);
export type InputItem = z.output<typeof itemSchema>;

/** The `input` of a response: a text is a message of the user. */
export const inputSchema = z.union(
  [z.string(), z.array(itemSchema)],
  "must be a text or a list of items",
);

export function itemsOf(input: z.output<typeof inputSchema> = []): InputItem[] {
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
}

/**
 * The content of a compaction: the conversation after a response, and items. A team keeps its conversation and shortens
 * by itself what its models get, so nothing is left out, and the text is not a secret of the server.
 */
const compactedSchema = z.object({
  after: z.string().optional(),
  items: z.array(itemSchema),
});
type Compacted = z.output<typeof compactedSchema>;

/** The text of a compaction item. */
export function compactionOf(compacted: Compacted): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(compacted)));
}

/** Items with what compactions among them stand for. @throws ProblemError 422 for one that was not made here */
export function withoutCompaction(items: readonly InputItem[]): Compacted {
  let after: string | undefined;
  const expanded = items.flatMap((item, index): InputItem[] => {
    if (item.type !== "compaction") return [item];
    const read = compactedSchema.safeParse(parsed(item.encrypted_content));
    if (!read.success || read.data.items.some(({ type }) => type === "compaction")) {
      throw refusedAt(
        `input[${index}].encrypted_content`,
        "must be what POST /responses/compact returned",
      );
    }
    after = read.data.after ?? after;
    return read.data.items;
  });
  return { items: expanded, ...(after !== undefined && { after }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(fromBase64(text)));
  } catch {
    return undefined;
  }
}

/** @param path where errors find it. @throws ProblemError 422 */
export function entryOf(item: InputItem, path: string): InputEntry {
  switch (item.type) {
    case "message": {
      const { role, content } = item;
      const contentPath = `${path}.content`;
      if (role === "user") {
        return {
          type: "message",
          source: role,
          content: contentOf(content, contentPath),
          answer: false,
        };
      }
      const answer = role === "assistant";
      const source = answer ? role : "system";
      return { type: "message", source, content: textOf(content, contentPath), answer };
    }
    case "function_call": {
      const { call_id: id, name, arguments: args } = item;
      return { type: "calls", calls: [{ id, name, arguments: args }] };
    }
    case "function_call_output":
      return {
        type: "output",
        id: item.call_id,
        content: outputOf(item.output, `${path}.output`),
      };
    case "mcp_approval_response":
      return {
        type: "approval",
        id: item.approval_request_id,
        approved: item.approve,
        reason: item.reason ?? undefined,
      };
    default:
      return { type: "other_answer" };
  }
}
