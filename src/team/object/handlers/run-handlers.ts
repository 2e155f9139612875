import type { TeamParts } from "../parts/team-parts.ts";
import type { AnswersInput } from "../../../contract/gateways/team-gateway.ts";
import { ok, refuse, type Refused, type Result } from "../../../contract/result.ts";
import type { AnsweredRun } from "../../../contract/run.ts";
import type { AnswerReaders } from "../../engine/requests/run-answers.ts";
import type { TeamHolder } from "../parts/team-holder.ts";
import type { TeamCommandParts, TeamHandlers } from "./team-methods.ts";
import { listed } from "./team-handlers.ts";

/** Runs: started, read, stopped and scheduled, and who is notified of them. */
export const runHandlers = {
  startRun: ({ team, inputs }, input) =>
    team.change(async (parts) => {
      const sealed = await inputs.seal(input);
      if (!sealed.ok) return sealed;
      const admitted = await parts.admit(input);
      return admitted.ok ? parts.runs.start(sealed.value, admitted.value) : admitted;
    }),

  run: ({ team }, id) => team.with(({ runs }) => runs.run(id)),

  runs: ({ team }, page) => team.with(({ runs }) => runs.page(page)),

  async runTrace({ team }, id, page) {
    const { traceOfRun } = await import("./trace-of-run.ts");
    return team.with((parts) => traceOfRun(parts, id, page));
  },

  async modelRequest({ team }, id, step) {
    const { requestOfStep } = await import("../parts/request-of-step.ts");
    const parts = team.with((found) => ok(found));
    if (!parts.ok) return parts;
    const { stores, engine, replay } = parts.value;
    return requestOfStep({ stores, engine, ...replay }, id, step);
  },

  async waitForRun(object, id, timeoutMs) {
    const { team } = object;
    await team.parts?.runs.wait(id, timeoutMs);
    await listed(object);
    // The team may have been deleted in the meantime.
    return team.with(({ runs }) => runs.run(id));
  },

  async stopRun({ team }, id, mode) {
    const stopped = team.with(({ runs }) => runs.stop(id, mode));
    if (!stopped.ok) return stopped;
    const { atOnce, ...stop } = stopped.value;
    await atOnce;
    // The team may have been deleted in the meantime.
    return team.with(({ runs }) => runs.infoWith(id, stop));
  },

  changeRun: ({ team }, id, task) =>
    team.change(({ runs, quota }) => quota.refuseMessage(task) ?? runs.change(id, task)),

  async steerRun({ team }, id, message, idempotency) {
    const parts = team.with((found) => ok(found));
    if (!parts.ok) return parts;
    const { quota, steering } = parts.value;
    const refused = quota.refuseStored() ?? quota.refuseMessage(message);
    return refused ?? (await steering.send(id, message, idempotency));
  },

  pauseRun: ({ team }, id) => team.with(({ runs }) => runs.pause(id)),

  resumeRun: ({ team }, id) => team.with(({ runs }) => runs.resume(id)),

  retryRun: ({ team }, id, idempotency) =>
    team.change(async ({ admission, runs, quota }) => {
      const decided = admission.decideRetry(id, idempotency);
      if (!decided.ok) return decided;
      const refused = decided.value.do === "retry" && (await quota.refuseRun(false, null));
      return refused || runs.retry(decided.value, idempotency);
    }),

  requests: ({ team }, run) => team.with(({ answers }) => answers.requests(run)),

  loginsOf: ({ team }, run) =>
    team.with(({ stores }) =>
      ok(
        Object.fromEntries(
          stores.questions
            .open(run)
            .flatMap(({ question: { id, login } }) => (login === undefined ? [] : [[id, login]])),
        ),
      ),
    ),

  request: ({ team }, run, request) => team.with(({ answers }) => answers.request(run, request)),

  answer: (object, run, request, answer, answering = {}) =>
    giveAnswers(object, { run, ...answering, answers: [{ request, answer }] }),

  answers: giveAnswers,

  async decisions({ team }, run, page) {
    const { decisionsOf } = await import("./approval-lists.ts");
    return team.with(({ stores }) => decisionsOf(stores, run, page));
  },

  async approvals({ team }, page) {
    const { storedApprovals } = await import("./approval-lists.ts");
    return team.with(({ stores }) => storedApprovals(stores, page));
  },

  deleteApproval: ({ team }, id) =>
    team.with(({ stores }) =>
      stores.approvals.revoke(id)
        ? ok(null)
        : refuse(404, "approval_not_found", "The team has no such stored approval."),
    ),

  putPushConfig: ({ team, inputs }, run, config) =>
    team.change(async ({ pushConfigs }) => {
      const sealed = await inputs.sealPush(config);
      return sealed.ok ? pushConfigs.put(run, sealed.value) : sealed;
    }),

  pushConfigs: ({ team }, run) => team.with(({ pushConfigs }) => pushConfigs.of(run)),

  deletePushConfig: ({ team }, run, id) =>
    team.change(({ pushConfigs }) => pushConfigs.delete(run, id)),

  // Schedules, which start runs.

  createSchedule: ({ team, inputs }, { notify: given, ...input }) =>
    team.change(async ({ schedules }) => {
      const notify = given && (await inputs.sealReceivers(given));
      if (notify?.ok === false) return notify;
      return schedules.create({ ...input, ...(notify && { notify: notify.value }) });
    }),

  schedules: ({ team }, page) => team.with(({ schedules }) => schedules.page(page)),

  schedule: ({ team }, id) => team.with(({ schedules }) => schedules.one(id)),

  changeSchedule: ({ team, inputs }, id, { notify: given, ...changes }) =>
    team.change(async ({ schedules }) => {
      const notify = given && (await inputs.sealReceivers(given, schedules.receivers(id)));
      if (notify?.ok === false) return notify;
      return schedules.change(id, { ...changes, ...(notify && { notify: notify.value }) });
    }),

  deleteSchedule: ({ team }, id) => team.change(({ schedules }) => schedules.remove(id)),

  runSchedule: ({ team }, id, idempotency) =>
    team.change(({ schedules }) => schedules.runNow(id, idempotency)),
} satisfies Partial<TeamHandlers>;

function giveAnswers(
  { team }: TeamCommandParts,
  input: AnswersInput,
): Promise<Result<AnsweredRun>> {
  return withAnswers(team, input, (_parts, give) => give());
}

async function answerReaders(): Promise<AnswerReaders> {
  const [parsing, approving] = await Promise.all([
    import("../../engine/requests/parse-answer.ts"),
    import("../../engine/requests/approval-answer.ts"),
  ]);
  return { ...approving, ...parsing };
}

/** Why answers to a run cannot be given now. Counts nothing. */
export async function refuseAnswers(
  team: TeamHolder,
  input: AnswersInput,
): Promise<Refused | undefined> {
  const readers = await answerReaders();
  const checked = team.with(({ answers }) => answers.checkAnswers(input, readers));
  return checked.ok ? undefined : checked;
}

/**
 * Checks answers to a run, and lets the caller give them.
 *
 * @param use gets the function that gives them; it must not await anything before it calls that
 */
export async function withAnswers<T>(
  team: TeamHolder,
  input: AnswersInput,
  use: (parts: TeamParts, give: () => Result<AnsweredRun>) => Result<T>,
): Promise<Result<T>> {
  const readers = await answerReaders();
  return team.with((parts) => {
    const { answers, quota } = parts;
    for (const { answer } of input.answers) {
      const refused = quota.refuseMessage(answer);
      if (refused) return refused;
    }
    const checked = answers.checkAnswers(input, readers);
    return checked.ok ? use(parts, () => answers.giveAnswers(input, checked.value)) : checked;
  });
}
