import { createOpenAI } from "@ai-sdk/openai";
import { AIChatAgent } from "@cloudflare/ai-chat";
import { getAgentByName } from "agents";
import { convertToModelMessages, streamText } from "ai";

interface Env {
  CHAT: DurableObjectNamespace<Chat>;
  UPSTREAM: string;
  SYSTEM: string;
}

/** A chat as its documentation shows it. Its name says what to ask: the model and how many messages it sees, or `all`. */
export class Chat extends AIChatAgent<Env> {
  override async onChatMessage(): Promise<Response> {
    const [model = "", context = ""] = this.name.split(".");
    const openai = createOpenAI({ baseURL: this.env.UPSTREAM, apiKey: "bench" });
    const messages = context === "all" ? this.messages : this.messages.slice(-Number(context));
    const result = streamText({
      model: openai.chat(model),
      system: this.env.SYSTEM,
      messages: await convertToModelMessages(messages),
    });
    return result.toUIMessageStreamResponse();
  }

  /** A turn without a WebSocket. */
  async say(text: string): Promise<string> {
    const message = {
      id: crypto.randomUUID(),
      role: "user" as const,
      parts: [{ type: "text" as const, text }],
    };
    const { status } = await this.saveMessages((messages) => [...messages, message]);
    const reply = this.messages.at(-1)?.parts.at(-1);
    return status === "completed" && reply?.type === "text" ? reply.text : status;
  }
}

/** `/chats/{name}`: a WebSocket, or a POST with what the user says. */
export default {
  async fetch(request, env) {
    const name = decodeURIComponent(new URL(request.url).pathname.replace("/chats/", ""));
    const chat = await getAgentByName(env.CHAT, name);
    if (request.method !== "POST") return chat.fetch(request);
    const { text } = (await request.json()) as { text: string };
    return new Response(await chat.say(text));
  },
} satisfies ExportedHandler<Env>;
