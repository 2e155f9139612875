import * as z from "zod";
import type { Component } from "../../component/component.ts";
import { ValueError } from "../../errors.ts";
import { asJson, isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { TextMessage } from "../../messages/chat-messages.ts";
import { createMessage } from "../../messages/create.ts";
import { isChatMessage, toModelText } from "../../messages/views.ts";
import type { Message } from "../../messages/message.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import { runInner } from "../../run/inner-run.ts";
import type { Runnable } from "../../run/runnable.ts";
import type { Stateful } from "../../state/stateful.ts";
import type { StreamTool, ToolCallContext } from "../../tools/tool.ts";
import { toolParameters } from "../../tools/function/tool-parameters.ts";
import { aBoolean, type OptionsSchema } from "../../options/options.ts";

const TASK_PARAMETERS = {
  type: "object",
  properties: { task: { title: "Task", type: "string" } },
  required: ["task"],
  additionalProperties: false,
};

export interface TaskToolOptions {
  /** The result is the last message only, not the whole transcript. Default false. */
  returnValueAsLastMessage?: boolean | undefined;
}

export const taskToolOptionsSchema: OptionsSchema<TaskToolOptions> = z.object({
  returnValueAsLastMessage: aBoolean.optional(),
});

/**
 * Base of agents and teams used as tools (AutoGen `TaskRunnerTool`): the model gives a task, the run's messages are
 * streamed, the result is their transcript. The state is that of the agent or team.
 */
export abstract class TaskTool implements StreamTool, Stateful {
  abstract readonly definition: Component["definition"];
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  protected readonly returnValueAsLastMessage: boolean;
  readonly #runnable: Runnable;
  readonly #parse: (args: JsonObject) => JsonObject;

  constructor(
    runnable: Runnable,
    tool: { name: string; description: string },
    { returnValueAsLastMessage = false }: TaskToolOptions,
  ) {
    const parameters = toolParameters(tool.name, TASK_PARAMETERS, true);
    this.name = tool.name;
    this.description = tool.description;
    this.schema = { ...tool, parameters: parameters.schema, strict: true };
    this.returnValueAsLastMessage = returnValueAsLastMessage;
    this.#runnable = runnable;
    this.#parse = parameters.parse;
  }

  abstract toConfig(): JsonObject;
  abstract saveState(): JsonObject;
  abstract loadState(state: JsonObject): void;

  async *runStream(args: JsonObject, call: ToolCallContext): AsyncGenerator<Message, Json, void> {
    const { ctx } = call;
    const task = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: "user",
      content: this.#parse(args).task as string,
    });
    const result = yield* runInner(
      this.runnableFor(call),
      { messages: [task], outputTaskMessages: true },
      ctx,
    );
    return asJson(result);
  }

  /** The runnable for a call. */
  protected runnableFor(_call: ToolCallContext): Runnable {
    return this.#runnable;
  }

  onPause(): Promise<void> {
    return this.#runnable.onPause();
  }

  onResume(): Promise<void> {
    return this.#runnable.onResume();
  }

  close(): Promise<void> {
    return this.#runnable.close();
  }

  /** @throws ValueError when the result is to be the last message and that is an event */
  valueAsText(value: Json): string {
    const messages = isJsonObject(value) ? (value["messages"] as Message[]) : [];
    if (!this.returnValueAsLastMessage) return transcript(messages);
    const last = messages.at(-1);
    if (last === undefined || !isChatMessage(last)) {
      throw new ValueError(`"${this.name}" ended without a chat message to answer with`);
    }
    return toModelText(last);
  }
}

function transcript(messages: readonly Message[]): string {
  return messages
    .filter(isChatMessage)
    .filter(({ source }) => source !== "user")
    .map((message) => `${message.source}: ${toModelText(message)}`)
    .join("\n\n");
}
