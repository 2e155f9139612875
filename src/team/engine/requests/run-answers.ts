import type { AnswersInput } from "../../../contract/gateways/team-gateway.ts";
import type { Approver } from "../../../contract/gateways/approver.ts";
import {
  ok,
  refuse,
  type Refused,
  refuseInput,
  type Result,
  runEnded,
  runNotFound,
  runQueued,
} from "../../../contract/result.ts";
import type { AnsweredRun, AskedRequest, HumanRequest } from "../../../contract/run.ts";
import { type JsonObject, parseJson, sortedJson } from "../../../core/json.ts";
import type { Answer } from "../../../core/turn/turn-context.ts";
import { MOST_APPROVALS } from "../../storage/runs/approval-store.ts";
import { givenOf } from "../../storage/runs/question-record.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import { isOver } from "../../storage/runs/run-store.ts";
import type { Stores } from "../../storage/stores.ts";
import type { RunEngine } from "../run-engine.ts";
import { openRequests } from "../views/run-info.ts";
import { askedRequest } from "../views/shown-requests.ts";
import type * as approvalAnswer from "./approval-answer.ts";
import type { ApprovalStep } from "./approval-answer.ts";
import type { parseAnswer } from "./parse-answer.ts";
import type { RunService } from "./run-service.ts";

/** The functions that read answers and judge approvals. */
export type AnswerReaders = { parseAnswer: typeof parseAnswer } & Pick<
  typeof approvalAnswer,
  "judgeApproval" | "refuseApprover" | "notRememberable" | "answeredOtherwise"
>;

/** An answer that may be given; `step` for an approval of a call. */
interface CheckedAnswer {
  answer: Answer;
  step?: ApprovalStep;
}

/** Answers that may be given, by the ids of their questions. */
type CheckedAnswers = ReadonlyMap<string, CheckedAnswer>;

/** The questions of runs and their answers. Changes are synchronous, so that each is stored as a whole or not at all. */
export class RunAnswers {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #runs: Pick<RunService, "infoWith">;

  constructor(stores: Stores, engine: RunEngine, runs: Pick<RunService, "infoWith">) {
    this.#stores = stores;
    this.#engine = engine;
    this.#runs = runs;
  }

  requests(id: string): Result<HumanRequest[]> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    return ok(openRequests(this.#stores, run.record));
  }

  /** A question of the run, or of the one that it retries, with its answer. */
  request(id: string, request: string): Result<AskedRequest> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const question = this.#questionOf(run, request);
    if (question) return ok(askedRequest(question));
    return refuse(
      404,
      "request_not_found",
      isOver(run.record)
        ? `The run is ${run.record.status} and has no such request: its open ones ended with it.`
        : "The run has no such request; perhaps it no longer needs the answer.",
    );
  }

  /** A retry takes over the answers of the run it repeats, but not its open questions. */
  #questionOf(run: StoredRun, request: string): StoredQuestion | undefined {
    const question = this.#stores.questions.get(request);
    return question && (question.run === run.record.id || question.answer) ? question : undefined;
  }

  /**
   * Checks answers to questions of a run. None of them is given yet.
   *
   * @param parse imported by the caller, because most runs ask nothing
   * @returns those that are new, by the ids of their questions
   */
  checkAnswers(
    { run: id, by = null, approver = { subject: by ?? "", scopes: [] }, answers }: AnswersInput,
    parse: AnswerReaders,
  ): Result<CheckedAnswers> {
    const run = this.#stores.runs.byId(id);
    if (!run) return runNotFound();
    const checked = new Map<string, CheckedAnswer>();
    for (const { request, answer, if_open = false } of answers) {
      const refused = this.#checkAnswer(run, request, answer, { parse, checked, approver });
      if (refused && !(if_open && refused.problem.status === 409)) return refused;
    }
    return ok(checked);
  }

  /** Adds an answer to those that are checked, unless the question has it already. */
  #checkAnswer(
    run: StoredRun,
    request: string,
    input: JsonObject,
    {
      parse,
      checked,
      approver,
    }: { parse: AnswerReaders; checked: Map<string, CheckedAnswer>; approver: Approver },
  ): Refused | undefined {
    const question = this.#questionOf(run, request);
    if (!question) {
      if (isOver(run.record)) return runEnded(run.record.status);
      if (run.record.status === "queued") return runQueued();
      return refuse(404, "request_not_found", "The run has no such request.");
    }
    let answer;
    try {
      answer = parse.parseAnswer(question.question, input);
    } catch (error) {
      return refuseInput(error);
    }
    const other = checked.get(request)?.answer;
    const { judged } = question.question;
    if (judged !== undefined && "approved" in answer) {
      const refused = parse.refuseApprover(judged, approver);
      if (refused) return refused;
      if (other === undefined && question.answer === undefined) {
        const room = MOST_APPROVALS - this.#stores.approvals.count;
        const step = parse.judgeApproval(question, judged, answer, approver, room);
        if (!step.ok) return step;
        if (step.value) checked.set(request, { answer, step: step.value });
        return undefined;
      }
      const own = judged.approvals.find(({ subject }) => subject === approver.subject);
      if (own !== undefined) {
        return own.sent === sentText(answer) ? undefined : parse.answeredOtherwise();
      }
    } else if ("approved" in answer && answer.allow !== undefined) {
      return parse.notRememberable("is asked about each time");
    }
    const earlier = question.answer?.text ?? (other && JSON.stringify(other));
    if (earlier === undefined) checked.set(request, { answer });
    else if (earlier !== sentText(answer)) return parse.answeredOtherwise();
    return undefined;
  }

  /** Gives answers that {@link checkAnswers} has checked. It must be called without awaiting anything in between. */
  giveAnswers(
    { run, by = null, answers: all }: AnswersInput,
    answers: CheckedAnswers,
  ): Result<AnsweredRun> {
    let closed = false;
    for (const [request, { answer, step }] of answers) {
      if (step === undefined) this.#stores.questions.answer(request, answer, by);
      else this.#approve(request, step, by);
      closed ||= step === undefined || step.answer !== undefined;
    }
    if (closed) this.#engine.answered();
    else if (answers.size > 0) this.#engine.approvalCounted();
    const [first] = all;
    const judged = first && this.#stores.questions.get(first.request)?.question.judged;
    return this.#runs.infoWith(run, judged ? { approvals: judged.approvals.map(givenOf) } : {});
  }

  /** Stores an answer to an approval, and for how long it counts; alike calls that are asked about are approved as well. */
  #approve(request: string, { question, answer, allow }: ApprovalStep, by: string | null): void {
    const { questions, approvals, announcer } = this.#stores;
    const stored = questions.get(request);
    const changed = stored && questions.change(stored, question);
    if (changed === undefined) return;
    if (answer === undefined) return announcer.asked(changed, true);
    questions.answer(request, answer, by);
    const { judged, source: agent } = question;
    if (allow === undefined || judged === undefined) return;
    const given = judged.approvals.map(givenOf);
    const call = {
      agent,
      judged: { ...judged, arguments: parseJson(judged.arguments) as JsonObject },
    };
    const run = allow === "run" ? changed.run : null;
    approvals.add(call, { run, by: given, at: Date.now() });
    for (const alike of questions.open(changed.run)) {
      const other = alike.question.judged;
      if (other === undefined || alike.question.source !== agent) continue;
      if (other.identity !== judged.identity || other.tool !== judged.tool) continue;
      if (sortedJson(parseJson(other.arguments)) !== sortedJson(call.judged.arguments)) continue;
      approvals.use(changed.run, call);
      questions.change(alike, {
        ...alike.question,
        judged: { ...other, approvals: judged.approvals },
      });
      questions.answer(alike.question.id, { approved: true }, by);
    }
  }
}

/** An answer as it is stored. */
function sentText(answer: Answer): string {
  return JSON.stringify({ ...answer, revision: undefined });
}
