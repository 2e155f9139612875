import * as z from "zod";
import {
  BaseChatAgent,
  ItemLog,
  createMessage,
  dumpComponent,
  type ComponentDefinition,
} from "troupe";
import type {
  ChatMessage,
  FullTextMemory,
  Json,
  JsonObject,
  Message,
  RequestUsage,
  AgentResponse,
  StateParts,
  TextMessage,
  ThoughtEvent,
  TurnContext,
} from "troupe";
import { componentModelSchema } from "#core/component/component-model.ts";
import type { CancelledWork, RemoteWork } from "#core/steps/remote-work.ts";

/** One answer of a scripted agent: yields what happens, returns what it says. */
export type Behaviour = (
  agent: ScriptedAgent,
  ctx: TurnContext,
  messages: readonly ChatMessage[],
) => AsyncGenerator<Message, string, void>;

/** Tests and objects share an isolate, so a test can say what happens in an object. */
const behaviours = new Map<string, Behaviour>();

/** Says what agents with this script do. */
export function script(name: string, behaviour: Behaviour): void {
  behaviours.set(name, behaviour);
}

/** What services answer that have work of scripted agents, by the names of these. */
export const cancellations = new Map<string, () => CancelledWork>();

const configSchema = z.object({
  name: z.string(),
  script: z.string(),
  memory: z.array(componentModelSchema).optional(),
});

/** An agent that does what a test says, and remembers what it said. */
export class ScriptedAgent extends BaseChatAgent {
  static readonly component: ComponentDefinition<z.infer<typeof configSchema>, ScriptedAgent> = {
    provider: "test.ScriptedAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema,
    fromConfig: ({ name, script: scriptName, memory = [] }, loader) =>
      new ScriptedAgent(
        name,
        scriptName,
        memory.map((model, index) => loader.load(model, "memory", `memory[${index}]`)),
      ),
  };

  readonly definition = ScriptedAgent.component;
  readonly producedMessageTypes = ["TextMessage"];
  readonly said = new ItemLog<string>();
  readonly memory: readonly FullTextMemory[];
  readonly #script: string;
  /** How often it has answered. */
  answers = 0;

  constructor(name: string, scriptName: string, memory: readonly FullTextMemory[] = []) {
    super(name, "does what a test says");
    this.#script = scriptName;
    this.memory = memory;
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const behaviour = behaviours.get(this.#script);
    if (behaviour === undefined) throw new TypeError(`no script "${this.#script}"`);
    const content = yield* behaviour(this, ctx, messages);
    this.answers++;
    this.said.append(content);
    const chatMessage = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content,
    });
    return { chatMessage, innerMessages: null };
  }

  cancelWork({ agent }: RemoteWork): Promise<CancelledWork> | undefined {
    const answer = agent === this.name ? cancellations.get(this.name) : undefined;
    return answer && Promise.resolve().then(answer);
  }

  onReset(): Promise<void> {
    this.answers = 0;
    this.said.clear();
    return Promise.resolve();
  }

  override onPause(): Promise<void> {
    hooks.push(`${this.#script} pause`);
    return Promise.resolve();
  }

  override onResume(): Promise<void> {
    hooks.push(`${this.#script} resume`);
    return Promise.resolve();
  }

  override saveState(): JsonObject {
    return {
      type: "ScriptedAgentState",
      answers: this.answers,
      said: this.said.slice(),
      memory: this.memory.map((memory) => memory.saveState()),
    };
  }

  override loadState(state: JsonObject): void {
    this.answers = Number(state["answers"]);
    this.said.clear();
    this.said.append(...((state["said"] ?? []) as string[]));
    for (const [index, memory] of ((state["memory"] ?? []) as JsonObject[]).entries()) {
      this.memory[index]?.loadState(memory);
    }
  }

  stateParts(): StateParts {
    return {
      head: {
        save: () => this.answers,
        load: (value: Json) => {
          this.answers = Number(value);
        },
      },
      logs: { said: this.said },
      children: Object.fromEntries(this.memory.map((memory, index) => [`memory-${index}`, memory])),
    };
  }

  toConfig(): JsonObject {
    const memory = this.memory.map((store) => dumpComponent(store) as unknown as Json);
    return { name: this.name, script: this.#script, ...(memory.length > 0 && { memory }) };
  }
}

/** Calls of the agents' pause and resume hooks: `<script> pause`. */
export const hooks: string[] = [];

/** Something an agent says on the way. */
export function thought(source: string, ctx: TurnContext, content: string): ThoughtEvent {
  return createMessage<ThoughtEvent>(ctx, { type: "ThoughtEvent", source, content });
}

/** A recorded model call. @param content what the model answers; a function says it when the call is made */
export async function modelCall(
  ctx: TurnContext,
  key: string,
  content: string | (() => string),
  usage: RequestUsage,
  { model, fingerprint = "" }: { model?: string; fingerprint?: string } = {},
): Promise<string> {
  const result = await ctx.step(
    key,
    () =>
      Promise.resolve({
        content: typeof content === "string" ? content : content(),
        usage,
        ...(model !== undefined && { model }),
      }),
    { kind: "model", fingerprint },
  );
  return result.content;
}
