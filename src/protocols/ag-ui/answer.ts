import type { TeamGateway } from "../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../contract/run.ts";
import { sha256Hex } from "../../core/sha256.ts";
import { isJsonObject } from "../../core/json.ts";
import { readJson } from "../../http/input/body.ts";
import { requireSize } from "../../http/input/task.ts";
import { traceOf } from "../../http/input/trace.ts";
import { unwrap } from "../../http/problem.ts";
import { streamAnswer } from "../../http/sse.ts";
import { newRun } from "../new-run.ts";
import type { ProtocolServices } from "../services.ts";
import { OWN } from "./events.ts";
import { follow, type Following, nothing } from "./follow.ts";
import { readInput, type RunInput } from "./input.ts";
import { type AgUiOptions, formatOf, keptThread } from "./options.ts";
import { answersOf, requireNothingNew } from "./resume.ts";
import { type Added, addedBy, newOf, taskOf } from "./task.ts";

/**
 * Answers a RunAgentInput with the events of a run: of one that it starts, of one whose questions it answers, or, where it
 * says nothing new, of the team's last one.
 *
 * @throws ProblemError before the stream begins
 */
export async function answer(
  { limits }: Pick<ProtocolServices, "limits">,
  team: TeamGateway,
  request: Request,
): Promise<Response> {
  const input = readInput((await readJson(request, limits)).value);
  const { said, results } = addedBy(input);
  const options = optionsOf(input);
  const following: Following = { team, input, options };
  const answers = input.resume.length > 0 || results.length > 0;
  const run = answers ? await lastRun(team) : undefined;
  // One message alone is recognized when its run is started.
  const fresh = answers || said.length > 1 ? await newOf(said, team, input.threadId) : said;
  if (run?.status === "waiting" || run?.status === "running") {
    const given = answersOf(run, input, { results }, limits);
    if (given.abandoned) {
      unwrap(await team.stopRun(run.id, "now"));
      if (fresh.length === 0) return follow(following, run);
    } else if (given.answers.size > 0) {
      requireNothingNew(fresh, run);
      return follow(following, run, given.answers);
    }
  }
  if (fresh.length > 0) return start(following, fresh, limits, request);
  const last = await lastRun(team);
  return last === undefined ? nothing(following) : follow(following, last);
}

async function start(
  { team, input, options }: Following,
  said: Added["said"],
  limits: ProtocolServices["limits"],
  request: Request,
): Promise<Response> {
  const { threadId, runId, tools, forwardedProps } = input;
  const { raw: _, ...own } = forwardedProps.troupe;
  const { task, dropped } = taskOf(said, input, limits);
  requireSize("tools", tools, limits);
  const started = unwrap(
    await team.startStream(
      newRun(task, {
        ...own,
        tools,
        metadata: { ag_ui: { thread_id: threadId, run_id: runId } },
        idempotency: await idempotencyOf(threadId, said),
        ...traceOf(request),
      }),
      formatOf({ ...options, dropped }),
    ),
  );
  if (started.created) return streamAnswer(started);
  if ("body" in started) await started.body.cancel();
  return follow({ team, input, options }, unwrap(await team.run(started.run)));
}

/**
 * What a client says, it says once: the same message again does not start another run, also in a request with another
 * `runId`, as the protocol wants it after a connection was lost.
 */
async function idempotencyOf(
  threadId: string,
  said: Added["said"],
): Promise<{ key: string; hash: string }> {
  const last = said.at(-1)?.message;
  const key = await sha256Hex(JSON.stringify([threadId, last?.id]));
  return { key: `ag-ui ${key}`, hash: await sha256Hex(JSON.stringify(last?.content)) };
}

function optionsOf(input: RunInput): AgUiOptions {
  const { threadId, runId, protocolVersion, state, given, forwardedProps } = input;
  return {
    threadId,
    runId,
    old: protocolVersion === undefined,
    thread: keptThread(given),
    state: shareOf(state),
    raw: forwardedProps.troupe.raw,
    dropped: [],
  };
}

/** A state that is no object is the application's alone. */
function shareOf(state: unknown): AgUiOptions["state"] {
  if (state === undefined || state === null) return "whole";
  if (!isJsonObject(state)) return "none";
  return Object.keys(state).every((key) => key === OWN) ? "whole" : "part";
}

/** The active run, or else the one that ran last. */
async function lastRun(team: TeamGateway): Promise<RunInfo | undefined> {
  const { active_run } = unwrap(await team.team());
  if (active_run !== null) return unwrap(await team.run(active_run));
  const { runs } = unwrap(await team.runs({ limit: 1 }));
  return runs[0];
}
