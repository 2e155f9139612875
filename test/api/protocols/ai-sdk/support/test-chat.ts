import type { ChatInit, ChatState, ChatStatus, UIMessage } from "../../../../peers/ai-sdk.ts";
import { type SdkName, SDKS } from "./sdks.ts";

/** What a page's hook keeps of a chat, without a page. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, this.snapshot(message));
  };

  snapshot = <T>(value: T): T => structuredClone(value);
}

export interface ChatOptions extends Pick<
  ChatInit<UIMessage>,
  "id" | "messages" | "onData" | "onToolCall" | "onFinish"
> {
  headers?: Record<string, string>;
  /** Added to the body of each request. */
  body?: object;
  /** Whether it sends by itself what it was asked for, as soon as all of it is there. */
  automatic?: boolean;
}

/** A chat of the SDK, the one that its hooks use, with its default transport. @param api the address of the team */
export function newChat(name: SdkName, api: string, options: ChatOptions = {}) {
  const { headers = {}, body = {}, automatic = false, messages = [], ...others } = options;
  const {
    AbstractChat,
    DefaultChatTransport,
    lastAssistantMessageIsCompleteWithApprovalResponses: approved,
    lastAssistantMessageIsCompleteWithToolCalls: called,
  } = SDKS[name];
  const requests: { method: string; url: string; status: number }[] = [];
  const transport = new DefaultChatTransport<UIMessage>({
    api,
    headers,
    body,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const { status } = response;
      requests.push({
        method: init?.method ?? "GET",
        url: url instanceof Request ? url.url : url.toString(),
        status,
      });
      return response;
    },
  });
  class Chat extends AbstractChat<UIMessage> {
    readonly requests = requests;

    get last(): UIMessage {
      const message = this.lastMessage;
      if (message === undefined) throw new Error("the chat is empty");
      return message;
    }
  }
  return new Chat({
    ...others,
    transport,
    state: new PlainState(messages),
    ...(automatic && {
      sendAutomaticallyWhen: (chat: { messages: UIMessage[] }) =>
        approved?.(chat) === true || called(chat),
    }),
  });
}

/** The texts of a message, those that count for nothing left out. */
export function textsOf({ parts }: UIMessage): string[] {
  return parts.flatMap((part) =>
    part.type === "text" && part.providerMetadata?.troupe?.void !== true ? [part.text] : [],
  );
}
