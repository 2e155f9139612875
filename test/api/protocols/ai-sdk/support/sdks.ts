import { ai5, ai6, ai7, type UIMessage, type UIMessageChunk } from "../../../../peers/ai-sdk.ts";

/** What the tests use of the SDK, which both versions have. */
type Sdk = Pick<
  typeof ai7,
  | "AbstractChat"
  | "DefaultChatTransport"
  | "readUIMessageStream"
  | "lastAssistantMessageIsCompleteWithToolCalls"
> &
  // Version 5 knows no approvals.
  Partial<Pick<typeof ai7, "lastAssistantMessageIsCompleteWithApprovalResponses">>;

/** The official packages, by what a test calls them. */
export const SDKS = {
  "ai 7": ai7 as Sdk,
  "ai 6": ai6 as unknown as Sdk,
  "ai 5": ai5 as unknown as Sdk,
};
export type SdkName = keyof typeof SDKS;
export const SDK_NAMES = Object.keys(SDKS) as SdkName[];
/** Those that know approvals. */
export const APPROVING: readonly SdkName[] = SDK_NAMES.filter(
  (name) => SDKS[name].lastAssistantMessageIsCompleteWithApprovalResponses !== undefined,
);

/** A message as a client of the SDK has it after a stream. */
export interface Read {
  message: UIMessage | undefined;
  chunks: UIMessageChunk[];
  errors: string[];
}

/** Reads a stream as a chat does. @param message the message that it continues */
export async function read(
  name: SdkName,
  stream: ReadableStream<UIMessageChunk>,
  message?: UIMessage,
): Promise<Read> {
  const chunks: UIMessageChunk[] = [];
  const errors: string[] = [];
  const watched = stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        chunks.push(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  let last = message;
  const states = SDKS[name].readUIMessageStream({
    stream: watched,
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
    ...(message && { message: structuredClone(message) }),
  });
  for await (const state of states) last = state;
  return { message: last, chunks, errors };
}

/** The chunks of a response, as the SDK's transport checks and parses them. */
export function parse(name: SdkName, text: string): Promise<ReadableStream<UIMessageChunk>> {
  const fetch = () =>
    Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } }));
  return new SDKS[name].DefaultChatTransport({ fetch }).sendMessages({
    chatId: "chat",
    messages: [],
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
}
