import type { GivenApproval } from "../../../contract/approval.ts";
import { judgeCall } from "../../../core/rules/judge-call.ts";
import type { Answer, JudgedQuestion, Question } from "../../../core/turn/turn-context.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { FoundAtAsking } from "../../storage/runs/question-record.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import type { RunRecord } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";

/** An answer without a question. */
interface Decided {
  answer: Answer;
  time: Moment;
}

/** The runs that a retry continues are followed so far. */
const MOST_RETRIES = 100;

/**
 * Decides if a human is asked about a call: `wait` until the question about the first call of the run is answered. A decision that the
 * call needs no human is stored before the call, so that a repeated turn finds it.
 */
export function decide(
  stores: Stores,
  record: RunRecord,
  judged: JudgedQuestion,
  { question, scope, now }: { question: Question; scope: string; now: Moment },
): Decided | FoundAtAsking | "wait" {
  const { decisions, approvals } = stores;
  const known = knownAnswer(stores, question);
  if (known !== undefined) return known;
  if (judged.approval === "once" && isAsked(stores, record.id, question, judged)) return "wait";
  const step = scope === "" ? judged.step : `${scope}/${judged.step}`;
  const call = {
    id: question.id,
    run: record.id,
    agent: question.source,
    step,
    judged,
    matched: [],
  };
  const earlier =
    judged.approval === "human"
      ? { count: 0, approved: false }
      : decisions.earlier(chainOf(stores, record), call);
  const matched = judgeCall(judged.approval, judged.values, earlier);
  const given = matched === undefined ? [] : approvals.use(record.id, call);
  if (given !== undefined) {
    decisions.ran(call, given, now);
    return { answer: approvedBy(given), time: now };
  }
  return { matched: matched ?? [], call: earlier.count + 1, step };
}

/** An earlier decision about a question; undefined where it is open, or was never asked. */
export function knownAnswer(
  { questions, decisions }: Stores,
  { id, judged }: Question,
): Decided | undefined {
  const asked = questions.get(id);
  if (asked?.answer) return { answer: answerOf(asked), time: asked.answer.time };
  const alone = judged && decisions.alone(id, judged.identity);
  return alone && { answer: approvedBy(alone.by), time: alone.time };
}

/** The answer to a question, with those who approved. */
export function answerOf({ question, answer }: StoredQuestion): Answer {
  const value = answer?.value ?? { content: "" };
  if (!("approved" in value) || !value.approved || answer === undefined) return value;
  const approvals = question.judged?.approvals ?? [];
  const by =
    approvals.length > 0 ? approvals.map(({ subject }) => subject) : [answer.by ?? []].flat();
  return { ...value, given: { by, at: new Date(answer.time.at).toISOString() } };
}

function approvedBy(given: readonly GivenApproval[]): Answer {
  const last = given.at(-1);
  if (last === undefined) return { approved: true };
  return { approved: true, given: { by: given.map(({ subject }) => subject), at: last.at } };
}

/** True if the run asks about another call of the tool. */
function isAsked(
  { questions }: Stores,
  run: string,
  { id, source }: Question,
  { tool, identity }: JudgedQuestion,
): boolean {
  return questions.open(run).some(({ question }) => {
    const { judged } = question;
    const isOther = question.id !== id && question.source === source;
    return isOther && judged?.tool === tool && judged.identity === identity;
  });
}

/** The run, and the runs that it retries. */
function chainOf({ runs }: Stores, record: RunRecord): string[] {
  const chain = [record.id];
  for (let next = record.retry_of; next !== null && chain.length < MOST_RETRIES;) {
    chain.push(next);
    next = runs.byId(next)?.record.retry_of ?? null;
  }
  return chain;
}
