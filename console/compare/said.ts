import type { Message, TeamState } from "troupe/client";

/** A message of one of the conversations, or a text that becomes one. */
export interface Said {
  id: string;
  type: Message["type"];
  source: string;
  /** Undefined while it is written. */
  message: Message | undefined;
  /** The text in progress; empty for a message. */
  text: string;
  turn: number | undefined;
}

/** The messages after the common ones, and the texts in progress. @param turns the turns that were finished meanwhile */
export function saidIn(
  messages: readonly Message[],
  { texts, turns }: Pick<TeamState, "texts" | "turns">,
): Said[] {
  const turnOf = new Map(
    turns.flatMap(({ turn, message_ids }) => message_ids.map((id) => [id, turn])),
  );
  const finished = messages.map((message): Said => {
    const { id, type, source } = message;
    const turn = "turn" in message ? Number(message.turn) : turnOf.get(id);
    return { id, type, source, message, text: "", turn };
  });
  const written = texts.map(({ id, source, content }): Said => {
    return { id, type: "TextMessage", source, message: undefined, text: content, turn: undefined };
  });
  return [...finished, ...written];
}
