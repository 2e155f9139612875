import { TroupeError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";
import { JsonSchema } from "../../core/json-schema/json-schema.ts";
import type { Answer, Question } from "../../core/turn/turn-context.ts";
import type { PreparedAnswer, WaitKind } from "../data/item.ts";
import type { WaitsFor } from "./result.ts";

/** A run waits for an answer that nothing gives. */
export class UnansweredError extends TroupeError {
  readonly waitsFor: WaitsFor;

  constructor(question: Question, reason: string) {
    const waitsFor = waitsForOf(question);
    const { kind, source, prompt, tool } = waitsFor;
    const about = tool === undefined ? "" : ` about the tool "${tool}"`;
    super(
      "unanswered",
      `"${source}" waits for an answer of the kind ${kind}${about}, and ${reason}: ${prompt}`,
      {
        data: { waits_for: { ...waitsFor } },
      },
    );
    this.waitsFor = waitsFor;
  }
}

/** The answers of one cell. Each is given once, to the first question that it fits. */
export class PreparedAnswers {
  readonly #left: PreparedAnswer[];

  constructor(answers: readonly PreparedAnswer[]) {
    this.#left = [...answers];
  }

  take(question: Question): Answer | undefined {
    const index = this.#left.findIndex((prepared) => fits(prepared, question));
    const [found] = index === -1 ? [] : this.#left.splice(index, 1);
    return found && answerOf(found.answer);
  }
}

function fits({ kind, tool, when }: PreparedAnswer, question: Question): boolean {
  const asked = waitsForOf(question);
  if (kind !== asked.kind) return false;
  if (tool !== undefined && tool !== asked.tool) return false;
  if (when === undefined) return true;
  return new JsonSchema(when).check(asked.arguments ?? asked.prompt).length === 0;
}

function answerOf(answer: PreparedAnswer["answer"]): Answer {
  if (typeof answer === "string") return { content: answer };
  return typeof answer === "boolean" ? { approved: answer } : answer;
}

export function waitsForOf(question: Question): WaitsFor {
  const { source, prompt, toolCall, code } = question;
  return {
    kind: kindOf(question),
    source,
    prompt: code === undefined ? prompt : `${prompt}\n${code}`,
    ...(toolCall && { tool: toolCall.name, arguments: toolCall.arguments }),
  };
}

function kindOf({ kind, login, form }: Question): WaitKind {
  if (kind !== "input") return kind;
  if (login !== undefined) return "login";
  const properties = form?.schema["properties"];
  const fields = isJsonObject(properties) ? Object.values(properties) : [];
  return fields.some((field) => isJsonObject(field) && "enum" in field) ? "choice" : "input";
}
