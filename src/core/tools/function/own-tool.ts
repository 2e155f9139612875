import type * as z from "zod";
import type { Component } from "../../component/component.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { Message } from "../../messages/message.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import type { HumanApproval } from "../../turn/human-approval.ts";
import { toolParameters } from "./tool-parameters.ts";
import type { StreamTool, ToolCallContext } from "../tool.ts";

export interface OwnToolOptions<Shape extends z.ZodRawShape> {
  name: string;
  description: string;
  parameters: z.ZodObject<Shape>;
  /** A human approves each call; null for none. */
  approval?: HumanApproval | null;
  /** Returns the text for the model. What it throws is an error result. */
  run: (args: z.output<z.ZodObject<Shape>>, call: ToolCallContext) => Promise<string>;
}

/** A tool that belongs to a memory of an agent, or to the agent. It is not a component of its own: the config of its owner makes it. */
export class OwnTool<Shape extends z.ZodRawShape> implements StreamTool {
  readonly definition: Component["definition"];
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly approval?: HumanApproval;
  readonly #parse: (args: JsonObject) => z.output<z.ZodObject<Shape>>;
  readonly #run: OwnToolOptions<Shape>["run"];

  /** @param definition the one of its owner */
  constructor(
    definition: Component["definition"],
    { name, description, parameters, approval, run }: OwnToolOptions<Shape>,
  ) {
    const { schema, parse } = toolParameters(name, parameters, false);
    this.definition = definition;
    this.name = name;
    this.description = description;
    this.schema = { name, description, parameters: schema };
    if (approval) this.approval = approval;
    this.#parse = parse;
    this.#run = run;
  }

  // oxlint-disable-next-line require-yield -- has the signature of tools that stream messages
  async *runStream(args: JsonObject, call: ToolCallContext): AsyncGenerator<Message, string, void> {
    return this.#run(this.#parse(args), call);
  }

  valueAsText(value: Json): string {
    return value as string;
  }

  toConfig(): JsonObject {
    return {};
  }
}
