import { camelCase } from "../options/camel-case.ts";
import type { Component } from "../component/component.ts";
import { ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { expectNoMore, run, type RunOptions, runStream } from "./run.ts";
import type { OutputOf, RunResult } from "../run/task-result.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { baseStateSchema, parseState } from "../state/load-state.ts";
import type { ChatAgent, AgentResponse } from "./chat-agent.ts";
import { requireIdentifier } from "./identifier.ts";
import { aText, checkArgument, hasMethods } from "../options/options.ts";

/**
 * Base class of agents (AutoGen `BaseChatAgent`): checks the name; pause, resume, close and the state methods do
 * nothing. A custom agent extends it and answers in `onMessagesStream`; side effects go through the context that it
 * gets.
 *
 * @throws ValueError when the name is not an identifier
 */
export abstract class BaseChatAgent implements ChatAgent {
  abstract readonly definition: Component["definition"];
  abstract readonly producedMessageTypes: readonly string[];
  readonly name: string;
  readonly description: string;

  constructor(name: string, description: string) {
    checkMethods(this, new.target.name);
    checkArgument(aText, name, new.target.name, "name");
    this.name = requireIdentifier(name, "the agent name");
    this.description = checkArgument(aText, description, new.target.name, "description");
  }

  /**
   * Runs the agent in memory to its answer (AutoGen `run`), as the function {@link run} does.
   *
   * @example
   * const { text } = await agent.run("Write a haiku.");
   */
  run(options?: string | RunOptions): Promise<RunResult<OutputOf<this>>> {
    expectNoMore(arguments, 1);
    return run(this, options);
  }

  /** Runs the agent in memory and yields what happens, last the result (AutoGen `run_stream`). See {@link runStream}. */
  runStream(
    options?: string | RunOptions,
  ): AsyncGenerator<Message | RunResult<OutputOf<this>>, void, void> {
    expectNoMore(arguments, 1);
    return runStream(this, options);
  }

  abstract onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void>;

  abstract onReset(ctx: TurnContext): Promise<void>;

  abstract toConfig(): JsonObject;

  onPause(): Promise<void> {
    return Promise.resolve();
  }

  onResume(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** An agent with state overrides this and {@link loadState}. */
  saveState(): JsonObject {
    return { type: "BaseState", version: "1.0.0" };
  }

  loadState(state: JsonObject): void {
    parseState(baseStateSchema, state, `the state of "${this.name}"`);
  }
}

/** The methods that a host calls. */
const METHODS: ReadonlySet<string> = new Set([
  "onMessagesStream",
  "onReset",
  "onPause",
  "onResume",
  "close",
  "saveState",
  "loadState",
  "toConfig",
]);

/** AutoGen methods that agents do not have here, by name, and their replacements. */
const REPLACED: { readonly [method: string]: string } = { onMessages: "onMessagesStream" };

/**
 * A method with AutoGen's name would never be called.
 *
 * @throws ValueError that names the method to write instead
 */
function checkMethods(agent: object, owner: string): void {
  for (let level = agent; level !== BaseChatAgent.prototype; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      const here = camelCase(name);
      const method = REPLACED[here] ?? here;
      if (method !== name && METHODS.has(method)) {
        throw new ValueError(`${owner} has the method ${name}, which is ${method} in Troupe`);
      }
    }
  }
  if (!hasMethods(agent, ["onMessagesStream"])) {
    throw new ValueError(
      `${owner} has no method onMessagesStream: an agent answers in it, as an async generator that returns its response`,
    );
  }
}
