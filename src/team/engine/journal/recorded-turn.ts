import type { Answer, Question } from "../../../core/turn/turn-context.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import { TurnTrace, type Wait } from "../../../telemetry/spans/turn-trace.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import type { Stores } from "../../storage/stores.ts";
import type { RunFeed } from "../views/run-feed.ts";
import { answerOf, decide } from "./decide.ts";
import type { JournaledRun } from "./journaled-run.ts";

/** The trace of the turn in progress as its steps and questions are recorded. */
export function recordedTrace(
  { steps, questions }: Pick<Stores, "steps" | "questions">,
  { record, startedAt: since, turnStarted, discardedSpans: discarded }: JournaledRun,
): TurnTrace {
  const trace = new TurnTrace({ since, recovering: false, discarded });
  for (const [key, step] of steps.entries()) {
    if (step.outcome !== undefined) trace.replayed(key, step, step.trace);
    else if (step.trace !== undefined)
      trace.underWayBefore(key, step, step.trace.start, step.trace);
  }
  for (const question of questions.since(record.id, Math.max(turnStarted.at, since))) {
    trace.waits(waitOf(question), "");
  }
  return trace;
}

/** The parts that store and show a turn's questions. */
export interface AskedIn {
  stores: Stores;
  active: JournaledRun;
  trace: TurnTrace;
  feed: RunFeed;
  clock: () => Moment;
}

/** The answer to a question, which is asked if the run has not asked it before; undefined until there is one. */
export function answerTo(
  question: Question,
  scope: string,
  { stores, active, trace, feed, clock }: AskedIn,
): { answer: Answer; time: Moment } | undefined {
  const { questions } = stores;
  const run = active.record.id;
  const existing = questions.get(question.id);
  if (existing) trace.waits(waitOf(existing), scope);
  if (existing?.answer) return { answer: answerOf(existing), time: existing.answer.time };
  if (existing?.run === run) return undefined;
  const now = clock();
  const decided =
    question.judged && decide(stores, active.record, question.judged, { question, scope, now });
  if (decided === "wait") return undefined;
  if (decided && "answer" in decided) return decided;
  questions.ask(run, question, now, decided);
  trace.waits({ id: question.id, source: question.source, start: now.at, end: null }, scope);
  // An input has an event; without this the others would not be shown before all their siblings have ended.
  if (question.kind !== "input") feed.runSoon(active);
  return undefined;
}

/** A question as a trace shows it. */
function waitOf({ question, createdAt, answer }: StoredQuestion): Wait {
  const { id, source } = question;
  return { id, source, start: createdAt, end: answer?.time.at ?? null };
}
