import { randomUUID } from "node:crypto";
import { bundle } from "../support/bundle.ts";
import { startWorkerd } from "../support/workerd.ts";
import { type Peer, SYSTEM, takeTurns } from "./peer.ts";
import { send } from "./send.ts";

/** A hand-written Durable Object. Replies are streamed; conversations start empty. */
export async function startBareObject(upstream: string): Promise<Peer> {
  const worker = await bundle("bench/worker/chat.ts", {
    objects: { CHAT: "BareChat" },
    vars: { UPSTREAM: upstream, SYSTEM },
  });
  const workerd = await startWorkerd(worker);
  return {
    name: "a bare Durable Object",
    durable: "the messages; a turn under way is lost",
    open: async ({ model, context }) => {
      const url = `${workerd.origin}/chats/${randomUUID()}`;
      const say = async (text: string): Promise<void> => {
        const answer = await send("POST", url, { model, context, text });
        if (!answer.includes("event: end")) throw new Error(`the reply did not end: ${answer}`);
      };
      return { turns: (count) => takeTurns(say, count, () => workerd.cpu()) };
    },
    [Symbol.asyncDispose]: async () => {
      await workerd[Symbol.asyncDispose]();
      worker[Symbol.dispose]();
    },
  };
}
