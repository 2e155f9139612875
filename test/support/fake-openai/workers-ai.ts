import * as z from "zod";
import { type AnswerFormat, openAIFormat } from "./answer-format.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";

/** What the binding sends to the service. */
const requestSchema = z.strictObject({
  inputs: z.looseObject({
    messages: z.array(z.looseObject({ content: z.union([z.string(), z.array(z.json())]) })),
    tool_choice: z.enum(["auto", "none", "required"]).optional(),
  }),
  options: z.strictObject({ returnRawResponse: z.literal(true) }),
});

/** Checks a request of the `AI` binding for a model with OpenAI's interface, and returns it as a chat completion request. */
export function parseWorkersAIRequest(
  body: unknown,
  model: string | undefined,
): ChatRequest | { problem: string } {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  return parseChatRequest({ ...parsed.data.inputs, model });
}

/** Answers of Workers AI for models with OpenAI's interface. */
export const workersAIFormat: AnswerFormat = {
  ...openAIFormat,
  error: (message) =>
    JSON.stringify({
      internalCode: 3000,
      name: "AiError",
      message: "AiError",
      description: message,
    }),
  errorEvent: (message, code) => `data: ${JSON.stringify({ errors: [{ message, code }] })}\n\n`,
};
