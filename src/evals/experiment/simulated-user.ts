import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import { run, type Task } from "../../core/agents/run.ts";
import type { Message } from "../../core/messages/message.ts";
import { isAgentEvent, toText } from "../../core/messages/views.ts";
import type { ChatCompletionClient } from "../../core/models/chat-completion-client.ts";
import type { Answer, Question } from "../../core/turn/turn-context.ts";
import type { SimulatedUser } from "../data/item.ts";
import { waitsForOf } from "./waits.ts";

const DEFAULT_STOP = "DONE";
const YES = /^\W*(?:yes|approved?|ok(?:ay)?)\b/i;

/** A model in the role of the user. It sees what a person would see: messages and questions, no events. */
export class UserModel {
  readonly #agent: AssistantAgent;
  readonly #stop: string;
  readonly #signal: AbortSignal;
  #left: number;
  /** The number of messages that it has seen. */
  #seen = 0;
  #ended = false;
  /** One after the other, because agents may ask side by side. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    { persona, goal, stop = DEFAULT_STOP, max_turns }: Omit<SimulatedUser, "model_client">,
    modelClient: ChatCompletionClient,
    signal: AbortSignal,
  ) {
    this.#stop = stop;
    this.#left = max_turns;
    this.#signal = signal;
    this.#agent = new AssistantAgent({
      name: "user",
      modelClient,
      systemMessage: `You play a person who talks to an assistant. Write only what this person writes, one message at a time, and never the assistant's part.
${persona === undefined ? "" : `The person: ${persona}\n`}What the person wants: ${goal}
When that is reached, or cannot be reached, answer with ${stop} alone.`,
    });
  }

  /** The reason why it is silent; undefined while it may speak. */
  get silent(): string | undefined {
    if (this.#ended) return "the simulated user has ended the talk";
    return this.#left > 0 ? undefined : "the simulated user has had all of its turns";
  }

  /**
   * The next task of the talk; undefined at its end.
   *
   * @param messages all messages of the talk so far
   */
  async next(messages: readonly Message[]): Promise<Task | undefined> {
    const content = await this.#say(messages, "It is the person's turn.");
    if (content === undefined) return undefined;
    const last = messages.at(-1);
    // A team that has handed the talk to a person takes it back by a handoff.
    if (last?.type !== "HandoffMessage") return content;
    return { type: "HandoffMessage", source: last.target, target: last.source, content };
  }

  /** The answer to a question; undefined where a person could give none, or gives none. */
  async answer(question: Question, messages: readonly Message[]): Promise<Answer | undefined> {
    const { kind, prompt, tool, arguments: args } = waitsForOf(question);
    if (kind === "tool" || kind === "login") return undefined;
    const about = tool === undefined ? "" : ` (${tool} with ${JSON.stringify(args)})`;
    const form = kind === "approval" ? ' Answer with "yes", or with "no" and the reason.' : "";
    const said = await this.#say(
      messages,
      `The assistant asks the person: ${prompt}${about}${form}`,
    );
    if (said === undefined) return undefined;
    if (kind !== "approval") return { content: said };
    return YES.test(said) ? { approved: true } : { approved: false, reason: said };
  }

  #say(messages: readonly Message[], asked: string): Promise<string | undefined> {
    const said = this.#last.then(() => this.#sayAlone(messages, asked));
    this.#last = said.catch(() => undefined);
    return said;
  }

  async #sayAlone(messages: readonly Message[], asked: string): Promise<string | undefined> {
    if (this.silent !== undefined) return undefined;
    this.#left--;
    const fresh = messages.slice(this.#seen).filter((message) => !isAgentEvent(message));
    this.#seen = messages.length;
    const task = [...fresh.map((message) => `${message.source}: ${toText(message)}`), asked];
    const { text } = await run(this.#agent, { task: task.join("\n\n"), signal: this.#signal });
    this.#ended = text.includes(this.#stop);
    return this.#ended ? undefined : text;
  }
}
