import type { ChatMessage, Message } from "../messages/message.ts";
import type { Branch, TurnContext } from "../run/turn-context.ts";
import type { Participant } from "./participant.ts";
import type { ThreadItem } from "./thread.ts";

/**
 * Runs several speakers concurrently. A participant listed twice (a graph's node that two groups of edges lead to)
 * speaks twice, one after the other, the second time to nothing new: both times were chosen at once.
 *
 * @param unheard what a participant has not heard yet
 * @returns what each said, in the order of `speakers`
 */
export async function* speakSideBySide(
  speakers: readonly Participant[],
  unheard: (name: string) => readonly ChatMessage[],
  ctx: TurnContext,
): AsyncGenerator<Message, ThreadItem[][], void> {
  const places = new Map<Participant, number[]>();
  for (const [place, speaker] of speakers.entries()) {
    places.set(speaker, [...(places.get(speaker) ?? []), place]);
  }
  const branches = [...places].map(([speaker, { length }]): Branch<Message, ThreadItem[][]> => ({
    key: `speaker:${speaker.info.name}`,
    run: (scope) => speakTimes(speaker, length, unheard, scope),
  }));
  const [only] = branches;
  const said =
    only !== undefined && branches.length === 1
      ? [yield* only.run(ctx.scope(only.key))]
      : yield* ctx.all(branches);
  const inOrder: ThreadItem[][] = [];
  for (const [index, own] of [...places.values()].entries()) {
    for (const [time, place] of own.entries()) inOrder[place] = said[index]?.[time] ?? [];
  }
  return inOrder;
}

async function* speakTimes(
  speaker: Participant,
  times: number,
  unheard: (name: string) => readonly ChatMessage[],
  ctx: TurnContext,
): AsyncGenerator<Message, ThreadItem[][], void> {
  const said = [yield* speaker.respond(unheard(speaker.info.name), ctx)];
  for (let time = 1; time < times; time++) {
    said.push(yield* speaker.respond([], ctx.scope(`again:${time}`)));
  }
  return said;
}
