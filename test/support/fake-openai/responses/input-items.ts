import * as z from "zod";

const inputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z
    .string()
    .regex(/^(data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}|https?:\/\/.+)$/),
  detail: z.enum(["auto", "low", "high", "original"]).optional(),
});
/** https://developers.openai.com/api/docs/guides/file-inputs?api-mode=responses */
const inputFile = z
  .strictObject({
    type: z.literal("input_file"),
    filename: z.string().optional(),
    file_data: z
      .string()
      .regex(/^data:[\w.+-]+\/[\w.+-]+;base64,/)
      .optional(),
    file_url: z.url().optional(),
    file_id: z.string().optional(),
    detail: z.enum(["auto", "low", "high"]).optional(),
  })
  .refine(
    ({ file_data, filename }) => file_data === undefined || filename !== undefined,
    "file_data needs a filename",
  )
  .refine(
    ({ file_data = "" }) => !/^data:application\/pdf;base64,(?!JVBERi)/.test(file_data),
    "the file is not a valid PDF",
  );
const inputPart = z.discriminatedUnion("type", [inputText, inputImage, inputFile]);
const outputPart = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("output_text"),
    text: z.string(),
    annotations: z.array(z.json()).optional(),
    logprobs: z.array(z.json()).optional(),
  }),
  z.strictObject({ type: z.literal("refusal"), refusal: z.string() }),
]);
const status = z.enum(["in_progress", "completed", "incomplete"]).optional();
const phase = z.enum(["commentary", "final_answer"]).nullish();

const messageSchema = z.union([
  z.strictObject({
    type: z.literal("message").optional(),
    role: z.enum(["user", "system", "developer"]),
    content: z.union([z.string(), z.array(inputPart).min(1)]),
    id: z.string().optional(),
    status,
  }),
  z.strictObject({
    type: z.literal("message").optional(),
    role: z.literal("assistant"),
    content: z.union([z.string(), z.array(outputPart).min(1)]),
    id: z.string().startsWith("msg_").optional(),
    status,
    phase,
  }),
]);

/** https://developers.openai.com/api/reference/resources/responses/methods/create (input) */
const typedSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("function_call"),
    id: z.string().startsWith("fc_").optional(),
    call_id: z.string().min(1).max(64),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
    arguments: z.string(),
    status,
  }),
  z.strictObject({
    type: z.literal("function_call_output"),
    id: z.string().optional(),
    call_id: z.string().min(1).max(64),
    output: z.union([z.string(), z.array(inputPart).min(1)]),
    status,
  }),
  z.strictObject({
    type: z.literal("reasoning"),
    id: z.string().startsWith("rs_").optional(),
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
    content: z
      .array(z.strictObject({ type: z.literal("reasoning_text"), text: z.string() }))
      .optional(),
    encrypted_content: z.string().nullish(),
    status,
  }),
  z.looseObject({ type: z.literal("web_search_call"), id: z.string(), status: z.string() }),
]);

export const itemSchema = z.union([messageSchema, typedSchema]);
export type InputItem = z.infer<typeof itemSchema>;
export type InputMessage = z.infer<typeof messageSchema>;

export function isMessage(item: InputItem): item is InputMessage {
  return "role" in item;
}

/** Parts of the wrong kind, which the maker's server names before anything else. */
export function partProblem(input: unknown): { param: string; problem: string } | undefined {
  if (!Array.isArray(input)) return undefined;
  for (const [index, item] of input.entries()) {
    const { role, content } = (item ?? {}) as { role?: unknown; content?: unknown };
    if (!Array.isArray(content)) continue;
    // https://github.com/openai/openai-python/issues/3544: what the assistant said is output.
    const allowed =
      role === "assistant"
        ? ["output_text", "refusal"]
        : ["input_text", "input_image", "input_file"];
    const part = content.findIndex(({ type }: { type: string }) => !allowed.includes(type));
    if (part !== -1)
      return {
        param: `input[${index}].content[${part}]`,
        problem: `Invalid value: '${(content[part] as { type: string }).type}'. Supported values are: ${allowed.map((type) => `'${type}'`).join(", ")}.`,
      };
  }
  return undefined;
}
