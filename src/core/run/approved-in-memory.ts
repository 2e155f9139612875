import { type JsonObject, sortedJson } from "../json.ts";
import { judgeCall } from "../rules/judge-call.ts";
import { reachesOf } from "../rules/rule-of-approval.ts";
import type { Answer, JudgedQuestion, Question } from "../turn/turn-context.ts";

/** Answers a question as the program does. */
type Ask = (question: Question) => Promise<Answer>;

/** The calls of a run in memory for which a human may have to be asked. The program answers for all who would have to approve. */
export class ApprovedInMemory {
  readonly #counts = new Map<string, number>();
  readonly #approved = new Set<string>();
  /** Approved until the run ends, by the call with its arguments. */
  readonly #remembered = new Map<string, { by: string[]; at: string }>();
  /** Questions about the first call of the run. */
  readonly #first = new Map<string, Promise<unknown>>();

  async answer(question: Question, ask: Ask): Promise<Answer> {
    const { judged, ...shown } = question;
    if (judged === undefined) return ask(shown);
    const tool = toolOf(question, judged);
    for (let first = this.#first.get(tool); first; first = this.#first.get(tool)) {
      await first.catch(() => undefined);
    }
    const count = this.#counts.get(judged.tool) ?? 0;
    this.#counts.set(judged.tool, count + 1);
    const { approval, values } = judged;
    const earlier = { count, approved: this.#approved.has(tool) };
    if (judgeCall(approval, values, earlier) === undefined) return { approved: true };
    const remembered = this.#remembered.get(callOf(tool, judged.arguments));
    if (remembered !== undefined) return { approved: true, given: remembered };
    const asked = ask(shown);
    if (approval === "once") this.#first.set(tool, asked);
    try {
      return this.#approval(await asked, tool, judged);
    } finally {
      if (approval === "once") this.#first.delete(tool);
    }
  }

  #approval(answer: Answer, tool: string, judged: JudgedQuestion): Answer {
    if (!("approved" in answer) || !answer.approved) return answer;
    const { allow, ...approved } = answer;
    const given = { by: [], at: new Date().toISOString() };
    this.#approved.add(tool);
    if (allow !== undefined && reachesOf(judged.approval).includes(allow)) {
      this.#remembered.set(callOf(tool, answer.arguments ?? judged.arguments), given);
    }
    return { ...approved, given };
  }
}

function toolOf({ source }: Question, { tool, identity }: JudgedQuestion): string {
  return JSON.stringify([source, tool, identity]);
}

function callOf(tool: string, args: JsonObject): string {
  return tool + sortedJson(args);
}
