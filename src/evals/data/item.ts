import * as z from "zod";
import { componentModelSchema } from "../../core/component/component-model.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import { TroupeError } from "../../core/errors.ts";
import { issuesOf, listIssues, namesKnownFields } from "../../core/issues.ts";
import { jsonObjectSchema } from "../../core/json-object.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Answer } from "../../core/turn/turn-context.ts";

/** The kinds of questions at which a run waits. */
export type WaitKind = "approval" | "input" | "choice" | "login" | "tool";
const WAIT_KINDS = [
  "approval",
  "input",
  "choice",
  "login",
  "tool",
] as const satisfies readonly WaitKind[];

/** The answer to one question of a run. */
export interface PreparedAnswer {
  kind: WaitKind;
  /** The name of the tool that the question is about. */
  tool?: string | undefined;
  /** A JSON Schema of the arguments of the call or, for a question without a call, of its text. */
  when?: JsonObject | undefined;
  /** A text, or what a client answers: `{ approved: true }`, `{ content: "..." }`. */
  answer: string | boolean | Answer;
}

/** A model in the role of the user. */
export interface SimulatedUser<Model = ComponentModel> {
  model_client: Model;
  /** The person whom the model plays. */
  persona?: string | undefined;
  /** The reason for which the user talks to the team. */
  goal: string;
  /** The text by which the user ends the talk. Default `DONE`. */
  stop?: string | undefined;
  /** The most messages and answers of the user. */
  max_turns: number;
}

/** One task of a dataset. */
export interface DatasetItem<Model = ComponentModel> {
  /** Default: its place in the dataset, `1` for the first. */
  id: string;
  /** A text, or messages as the API takes them. */
  task?: Json | undefined;
  expected?: Json | undefined;
  metadata?: JsonObject | undefined;
  answers?: readonly PreparedAnswer[] | undefined;
  user?: SimulatedUser<Model> | undefined;
}

/** An item as it is given: with any id, or none. */
export type GivenItem<Model = ComponentModel> = Omit<DatasetItem<Model>, "id"> & {
  id?: string | undefined;
};

const answerSchema = z.union([
  z.string(),
  z.boolean(),
  z.strictObject({
    content: z.union([z.string(), jsonObjectSchema]),
    is_error: z.boolean().optional(),
  }),
  z.strictObject({
    approved: z.boolean(),
    reason: z.string().optional(),
    arguments: jsonObjectSchema.optional(),
  }),
]);

export const preparedAnswersSchema = z.array(
  z
    .strictObject({
      kind: z.enum(WAIT_KINDS),
      tool: z.string().optional(),
      when: jsonObjectSchema.optional(),
      answer: answerSchema,
    })
    .superRefine(({ kind, answer }, context) => {
      const message = misfit(kind, answer);
      if (message !== undefined) context.addIssue({ code: "custom", path: ["answer"], message });
    }),
);

function misfit(kind: WaitKind, answer: z.infer<typeof answerSchema>): string | undefined {
  const isVerdict =
    typeof answer === "boolean" || (typeof answer === "object" && "approved" in answer);
  if (kind === "approval") {
    return isVerdict ? undefined : "must be true, false or { approved: true or false, reason? }";
  }
  return isVerdict ? `must be a text or { content } for the kind ${kind}` : undefined;
}

/** A model client as it may be given: component JSON, or an object of a program. */
export const modelClientSchema = z.union([
  componentModelSchema,
  z.custom<object>(
    (value) => typeof value === "object" && value !== null && "createStream" in value,
    {
      error: "must be a model client, as component JSON or as an object",
    },
  ),
]);

export const simulatedUserSchema = z.strictObject({
  model_client: modelClientSchema,
  persona: z.string().optional(),
  goal: z.string().min(1),
  stop: z.string().min(1).optional(),
  max_turns: z.int().min(1).max(100),
});

const itemSchema = z.strictObject({
  id: z
    .union([z.string().min(1), z.int()])
    .transform(String)
    .optional(),
  task: z.union([z.string(), jsonObjectSchema, z.array(jsonObjectSchema).min(1)]).optional(),
  expected: z.json().optional(),
  metadata: jsonObjectSchema.optional(),
  from: z.unknown().optional(),
  answers: preparedAnswersSchema.optional(),
  user: simulatedUserSchema.optional(),
});

/** The most items of a dataset. */
const MOST_ITEMS = 10_000;

/**
 * Checks the items of a dataset, and gives those without an id their place as one.
 *
 * @throws TroupeError `invalid_dataset` that names each field that is wrong and what is allowed
 */
export function checkItems(items: unknown, path = "data"): DatasetItem<object>[] {
  const { data, error } = z
    .array(itemSchema)
    .min(1)
    .max(MOST_ITEMS)
    .safeParse(items, { error: namesKnownFields });
  if (error !== undefined) throw invalidDataset(issuesOf(error, path));
  const issues = data.flatMap(({ task, from }, index) => {
    const place = `${path}[${index}]`;
    if (from !== undefined) {
      const message =
        "begins at a run that a server has stored, and this evaluation runs without a server: give the item a task";
      return [{ path: `${place}.from`, message }];
    }
    return task === undefined
      ? [{ path: `${place}.task`, message: "is missing: a text or messages" }]
      : [];
  });
  const named = data.map(({ from: _from, ...item }, index) => ({
    ...item,
    id: item.id ?? String(index + 1),
  }));
  const seen = new Set<string>();
  for (const [index, { id }] of named.entries()) {
    if (seen.has(id))
      issues.push({
        path: `${path}[${index}].id`,
        message: `"${id}" is the id of an earlier item`,
      });
    seen.add(id);
  }
  if (issues.length > 0) throw invalidDataset(issues);
  return named;
}

function invalidDataset(issues: { path: string; message: string }[]): TroupeError {
  return new TroupeError("invalid_dataset", `Invalid dataset: ${listIssues(issues)}`, { issues });
}
