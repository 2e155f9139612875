import { type Json } from "troupe";
import { isJsonObject } from "#core/json.ts";
import type { Answer, Question } from "troupe";

/** The person of a trace: gives the recorded inputs in order and remembers what was asked. */
export class Human {
  #prompts: string[] = [];
  readonly #inputs: Json[];

  constructor(inputs: readonly Json[]) {
    this.#inputs = [...inputs];
  }

  /** What was asked since this was called last. */
  take(): string[] {
    const prompts = this.#prompts;
    this.#prompts = [];
    return prompts;
  }

  answer = async (question: Question): Promise<Answer> => {
    this.#prompts.push(question.prompt);
    const input = this.#inputs.shift();
    if (input === undefined) throw new Error("the trace has no further input");
    if (typeof input === "string") return { content: input };
    if (isJsonObject(input) && typeof input["error"] === "string") throw new Error(input["error"]);
    if (isJsonObject(input)) return { content: input };
    throw new Error(`the trace has an invalid input: ${JSON.stringify(input)}`);
  };
}
