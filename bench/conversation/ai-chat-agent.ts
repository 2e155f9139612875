import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { bundle } from "../support/bundle.ts";
import { startWorkerd } from "../support/workerd.ts";
import { message, type Peer, SYSTEM, takeTurns } from "./peer.ts";
import { send } from "./send.ts";

/**
 * How a turn is asked for: as `useAgentChat` does, over a WebSocket with all messages of the conversation each time; or by the
 * server's method `saveMessages`, called over HTTP with the new message.
 */
type Way = "useAgentChat" | "saveMessages";

/** A message as the AI SDK has it in a page. */
interface PageMessage {
  id: string;
  role: string;
  parts: { type: "text"; text: string }[];
}

/** A frame of the agent's. */
interface Frame {
  type: string;
  id?: string;
  body?: string;
  done?: boolean;
  error?: boolean;
}

/** AIChatAgent of Cloudflare's Agents SDK, in workerd. Replies are streamed. */
export async function startAIChatAgent(upstream: string, way: Way): Promise<Peer> {
  const worker = await bundle("bench/peers/ai-chat-agent/worker.ts", {
    objects: { CHAT: "Chat" },
    vars: { UPSTREAM: upstream, SYSTEM },
  });
  const workerd = await startWorkerd(worker);
  return {
    name: `AIChatAgent in workerd, ${way}`,
    durable: "the messages; a turn under way is recovered",
    open: async ({ model, context, history }) => {
      const url = `${workerd.origin}/chats/${model}.${context ?? "all"}.${randomUUID()}`;
      const chat = await Chat.open(url);
      await chat.fill(history);
      const byMethod = async (said: string): Promise<void> => {
        const reply = await send("POST", url, { text: said });
        if (!reply.includes("word")) throw new Error(`the reply is ${reply}`);
      };
      if (way === "saveMessages") chat.close();
      const say = way === "saveMessages" ? byMethod : (said: string) => chat.say(said);
      return { turns: (count) => takeTurns(say, count, () => workerd.cpu()) };
    },
    [Symbol.asyncDispose]: async () => {
      await workerd[Symbol.asyncDispose]();
      worker[Symbol.dispose]();
    },
  };
}

/** What `useAgentChat` sends and reads, over one connection. */
class Chat {
  readonly #socket: WebSocket;
  readonly #messages: PageMessage[] = [];
  #frame: (frame: Frame) => void = () => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      this.#frame(JSON.parse(String(data)) as Frame);
    });
  }

  static async open(url: string): Promise<Chat> {
    const socket = new WebSocket(url.replace("http", "ws"));
    const chat = new Chat(socket);
    await once(socket, "open");
    return chat;
  }

  close(): void {
    this.#socket.close();
  }

  /** Gives the conversation messages from before. */
  async fill(count: number): Promise<void> {
    if (count === 0) return;
    for (let index = 0; index < count; index++) {
      const { role, content } = message(index);
      this.#add(role, content);
    }
    this.#send({ type: "cf_agent_chat_messages", messages: this.#messages });
  }

  async say(said: string): Promise<void> {
    this.#add("user", said);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const id = randomUUID();
    let reply = "";
    this.#frame = (frame) => {
      if (frame.type !== "cf_agent_use_chat_response" || frame.id !== id) return;
      if (frame.error) reject(new Error(frame.body));
      if (frame.body) {
        const chunk = JSON.parse(frame.body) as { type: string; delta?: string };
        if (chunk.type === "text-delta") reply += chunk.delta;
      }
      if (frame.done) resolve();
    };
    const body = JSON.stringify({ messages: this.#messages, trigger: "submit-message" });
    this.#send({ type: "cf_agent_use_chat_request", id, init: { method: "POST", body } });
    await promise;
    if (reply === "") throw new Error("the reply is empty");
    this.#add("assistant", reply);
  }

  #add(role: string, said: string): void {
    this.#messages.push({ id: randomUUID(), role, parts: [{ type: "text", text: said }] });
  }

  #send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }
}
