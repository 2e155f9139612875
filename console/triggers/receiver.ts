import type { ReceiverInput, ShownReceiver } from "troupe/client";
import type { EventName } from "../webhooks/events.ts";

export type ReceiverKind = ShownReceiver["kind"];

/** The kinds of receivers, in the order of the form. */
export const RECEIVERS: Readonly<Record<ReceiverKind, string>> = {
  slack: "Slack",
  telegram: "Telegram",
  email: "E-mail",
  webhook: "Webhook",
};

export const RECEIVER_KINDS = Object.keys(RECEIVERS) as ReceiverKind[];

/** A receiver as it is typed, with the fields of all kinds. */
export interface TypedReceiver {
  /** Undefined for a new one. */
  id: string | undefined;
  kind: ReceiverKind;
  url: string;
  token: string;
  chat: string;
  to: string;
  on: readonly EventName[];
}

/** @param receiver undefined for a new one */
export function typedReceiver(receiver: ShownReceiver | undefined): TypedReceiver {
  return {
    id: receiver?.id,
    kind: receiver?.kind ?? "slack",
    url: receiver?.url ?? "https://",
    token: receiver?.token ?? "",
    chat: receiver?.chat ?? "",
    to: receiver?.to ?? "",
    on: receiver?.on ?? ["request.created", "run.completed", "run.failed"],
  };
}

export function receiverOf(typed: TypedReceiver): ReceiverInput {
  const { id, kind, url, token, chat, to, on } = typed;
  const common = { ...(id !== undefined && { id }), on: [...on] };
  switch (kind) {
    case "slack":
    case "webhook":
      return { ...common, kind, url: url.trim() };
    case "telegram":
      return { ...common, kind, token: token.trim(), chat: chat.trim() };
    case "email":
      return { ...common, kind, to: to.trim() };
  }
}
