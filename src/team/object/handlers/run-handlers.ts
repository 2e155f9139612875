import type { TeamParts } from "../parts/team-parts.ts";
import type { AnswersInput } from "../../../contract/gateways/team-gateway.ts";
import { ok, type Refused, type Result } from "../../../contract/result.ts";
import type { RunInfo } from "../../../contract/run.ts";
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

  pauseRun: ({ team }, id) => team.with(({ runs }) => runs.pause(id)),

  resumeRun: ({ team }, id) => team.with(({ runs }) => runs.resume(id)),

  retryRun: ({ team }, id, idempotency) =>
    team.change(async ({ admission, runs, quota }) => {
      const decided = admission.decideRetry(id, idempotency);
      if (!decided.ok) return decided;
      const refused = decided.value.do === "retry" && (await quota.refuseRun(false, null));
      return refused || runs.retry(decided.value, idempotency);
    }),

  requests: ({ team }, run) => team.with(({ runs }) => runs.requests(run)),

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

  request: ({ team }, run, request) => team.with(({ runs }) => runs.request(run, request)),

  answer: (object, run, request, answer, by = null) =>
    giveAnswers(object, { run, by, answers: [{ request, answer }] }),

  answers: giveAnswers,

  putPushConfig: ({ team, inputs }, run, config) =>
    team.change(async ({ pushConfigs }) => {
      const sealed = await inputs.sealPush(config);
      return sealed.ok ? pushConfigs.put(run, sealed.value) : sealed;
    }),

  pushConfigs: ({ team }, run) => team.with(({ pushConfigs }) => pushConfigs.of(run)),

  deletePushConfig: ({ team }, run, id) =>
    team.change(({ pushConfigs }) => pushConfigs.delete(run, id)),

  // Schedules, which start runs.

  createSchedule: ({ team }, input) => team.change(({ schedules }) => schedules.create(input)),

  schedules: ({ team }, page) => team.with(({ schedules }) => schedules.page(page)),

  schedule: ({ team }, id) => team.with(({ schedules }) => schedules.one(id)),

  changeSchedule: ({ team }, id, changes) =>
    team.change(({ schedules }) => schedules.change(id, changes)),

  deleteSchedule: ({ team }, id) => team.change(({ schedules }) => schedules.remove(id)),

  runSchedule: ({ team }, id, idempotency) =>
    team.change(({ schedules }) => schedules.runNow(id, idempotency)),
} satisfies Partial<TeamHandlers>;

function giveAnswers({ team }: TeamCommandParts, input: AnswersInput): Promise<Result<RunInfo>> {
  return withAnswers(team, input, (_parts, give) => give());
}

/** Why answers to a run cannot be given now. Counts nothing. */
export async function refuseAnswers(
  team: TeamHolder,
  input: AnswersInput,
): Promise<Refused | undefined> {
  const { parseAnswer } = await import("../../engine/requests/parse-answer.ts");
  const checked = team.with(({ runs }) => runs.checkAnswers(input, parseAnswer));
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
  use: (parts: TeamParts, give: () => Result<RunInfo>) => Result<T>,
): Promise<Result<T>> {
  const { parseAnswer } = await import("../../engine/requests/parse-answer.ts");
  return team.with((parts) => {
    const { runs, quota } = parts;
    for (const { answer } of input.answers) {
      const refused = quota.refuseMessage(answer);
      if (refused) return refused;
    }
    const checked = runs.checkAnswers(input, parseAnswer);
    return checked.ok ? use(parts, () => runs.giveAnswers(input, checked.value)) : checked;
  });
}
