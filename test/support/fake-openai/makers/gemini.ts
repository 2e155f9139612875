import { seal } from "../responses/sealing.ts";
import { type FakeMaker, type GivenRequest, type GivenTurn, isEmpty } from "./maker.ts";

/** https://ai.google.dev/gemini-api/docs/thought-signatures: both are accepted in place of a signature. */
const PLACEHOLDERS: ReadonlySet<unknown> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

const signature = ({ key, model }: GivenRequest, id: string): string => seal(`${key}/${model}`, id);

const signed = (thought_signature: string) => ({
  extra_content: { google: { thought_signature } },
});

function signatureOf(extra: unknown): unknown {
  return (extra as { google?: { thought_signature?: unknown } } | undefined)?.google
    ?.thought_signature;
}

/** A signature that is there must be right, wherever it stands. */
function forged(request: GivenRequest, { calls, fields }: GivenTurn): boolean {
  const given = [
    ...calls.map(({ id, extra_content }) => [id, signatureOf(extra_content)] as const),
    ["text", signatureOf(fields["extra_content"])] as const,
  ];
  return given.some(
    ([id, found]) =>
      found !== undefined && !PLACEHOLDERS.has(found) && found !== signature(request, id),
  );
}

/** What Google's server refuses of any model, apart from system messages, which it has in a field of their own. */
function orderProblem({ messages }: GivenRequest): string | undefined {
  const contents = messages.filter(({ role }) => role !== "system");
  // https://github.com/vercel/ai/issues/3775
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  const empty = contents.findIndex((one) => isEmpty(one) && one.role !== "tool");
  if (empty !== -1)
    return `* GenerateContentRequest.contents[${empty}].parts: contents.parts must not be empty.`;
  for (const [index, { hasCalls }] of contents.entries()) {
    const before = contents[index - 1]?.role;
    // https://github.com/google-gemini/gemini-cli/issues/26486
    if (hasCalls && before !== "user" && before !== "tool")
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
  }
  if (contents[0]?.role !== "user") return "Please ensure that the first turn is one of a user.";
  // https://github.com/crewAIInc/crewAI/pull/6973
  if (contents.at(-1)?.role === "assistant")
    return "Please ensure that multiturn requests end with a user turn or a function response.";
  return undefined;
}

/** Gemini's chat completions (https://ai.google.dev/gemini-api/docs/openai). */
export const gemini: FakeMaker = {
  messageFields: ["extra_content"],
  bodyFields: ["extra_body"],
  callExtras: true,
  problem(request) {
    const order = orderProblem(request);
    if (order !== undefined) return order;
    if (/^gemini-[12]/.test(request.model)) return undefined;
    for (const turn of request.turns) {
      if (forged(request, turn)) return "Corrupted thought signature.";
      const [first] = turn.calls;
      // Steps of earlier turns are not checked.
      if (first === undefined || turn.index < request.lastUser) continue;
      if (signatureOf(first.extra_content) === undefined)
        return (
          "Function call is missing a thought_signature in functionCall parts. This is required for tools to work " +
          `correctly. Additional data, function call position ${turn.index}.`
        );
    }
    return undefined;
  },
  voice: (request, { toolCalls }) => ({
    // Only the first of parallel calls is signed.
    call: (index) => (index === 0 ? signed(signature(request, toolCalls[0]?.id ?? "")) : {}),
    text: () => signed(signature(request, "text")),
  }),
};
