import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { Problem } from "../../../contract/problem.ts";
import type { RunInfo } from "../../../contract/run.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Asker, askerOf } from "../../http/access/access-control.ts";
import { readJson } from "../../http/input/body.ts";
import { requireSize } from "../../http/input/task.ts";
import { originOf } from "../../http/input/call.ts";
import { ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import type { MessageServices } from "../../http/endpoint/services.ts";
import { streamAnswer } from "../../http/endpoint/sse.ts";
import { TeamConversation, type RequestAnswer } from "../shared/conversation.ts";
import { follow, type Following, nothing } from "./follow.ts";
import { placeId, readInput, type RunInput } from "./wire/input.ts";
import { type AgUiOptions, formatOf, keptThread } from "./wire/options.ts";
import { innerTeamsOf } from "./request/inner-teams.ts";
import { answersOf, requireNothingNew } from "./request/resume.ts";
import { shareOf, stateOf } from "./request/state.ts";
import {
  type Added,
  addedBy,
  isOnlyText,
  MOST_DROPPED,
  newOf,
  taskOf,
  textOf,
} from "./request/task.ts";

/**
 * Answers a RunAgentInput with the events of a run: of one that it starts, of one whose questions it answers, or, where it
 * says nothing new, of the team's last one.
 *
 * @throws ProblemError before the stream begins
 */
export async function answer(
  services: MessageServices,
  {
    teamFor,
    principal,
    request,
  }: {
    /** The team, as the user sees it that the call names. */
    teamFor: (user: string | undefined) => TeamGateway;
    principal: Principal;
    request: Request;
  },
): Promise<Response> {
  const input = readInput((await readJson(request, services.limits)).value);
  const asker = askerOf(principal, input.forwardedProps.troupe.user);
  const team = teamFor(asker.user);
  const { said, results } = addedBy(input);
  const options = await optionsOf(input, team);
  const conversation = new TeamConversation(team, services, principal);
  const following: Following = { conversation, input, options };
  const answers = input.resume.length > 0 || results.length > 0;
  const run = answers ? await conversation.lastRun() : undefined;
  // One message alone is recognized when its run is started.
  const fresh = answers || said.length > 1 ? await newOf(said, team, input.threadId) : said;
  if (run?.status === "waiting" || run?.status === "running") {
    const resumed = answersOf(run, input, { results });
    if (resumed.abandoned) {
      unwrap(await team.stopRun(run.id, "now"));
      if (fresh.length === 0) return follow(following, run);
    } else if (resumed.answers.length > 0) {
      const added = fresh.filter(
        ({ message, index }) => message.id !== placeId(input.runId, index),
      );
      requireNothingNew(added, run);
      const dropped = added.slice(0, MOST_DROPPED).map(({ index }) => `messages[${index}]`);
      return follow(
        { conversation, input, options: { ...options, dropped } },
        run,
        resumed.answers,
      );
    }
  }
  if (fresh.length > 0) return start(following, fresh, services, { request, asker });
  const last = await conversation.lastRun();
  return last === undefined ? nothing(following) : follow(following, last);
}

/** The answer of a client that got the question as a text, or may know no interrupts: what its user says while the run asks for an input. */
async function spokenAnswer(
  conversation: TeamConversation,
  said: Added["said"],
): Promise<{ run: RunInfo; answer: RequestAnswer } | undefined> {
  const run = await conversation.activeRun();
  const question = run?.requests.find(({ kind }) => kind === "input");
  if (run === undefined || question === undefined) return undefined;
  const content = said.map(({ message }) => textOf(message)).join("\n");
  return { run, answer: { request: question.id, answer: { content } } };
}

async function start(
  { conversation, input, options }: Following,
  said: Added["said"],
  services: MessageServices,
  { request, asker }: { request: Request; asker: Asker },
): Promise<Response> {
  const { threadId, runId, tools, forwardedProps } = input;
  const { on_conflict, timeout_seconds, max_total_tokens } = forwardedProps.troupe;
  const steers = on_conflict === "steer";
  const { team } = conversation;
  const { task, dropped } = await taskOf(said, input, services, team);
  requireSize("tools", tools, services.limits);
  const admitted = await conversation.start(
    task,
    {
      timeout_seconds,
      max_total_tokens,
      on_conflict: steers ? "reject" : on_conflict,
      ...asker,
      tools,
      state: await stateOf(input, team),
      metadata: { ag_ui: { thread_id: threadId, run_id: runId } },
      idempotency: await idempotencyOf(threadId, said),
      ...originOf(request),
    },
    formatOf({ ...options, dropped }),
  );
  if (
    !admitted.ok &&
    admitted.problem.code === "team_busy" &&
    (options.old || !options.interrupts)
  ) {
    const spoken = await spokenAnswer(conversation, said);
    if (spoken !== undefined) {
      return follow({ conversation, input, options }, spoken.run, [spoken.answer]);
    }
  }
  if (!admitted.ok && steers) {
    const steered = await steer(conversation, input, { said, problem: admitted.problem });
    if (steered === "ended") {
      return start({ conversation, input, options }, said, services, { request, asker });
    }
    if (steered !== undefined) return follow({ conversation, input, options }, steered);
  }
  if (!admitted.ok && admitted.problem.code === "idempotency_mismatch") {
    throw usedId(said.at(-1)?.index ?? 0, admitted.problem);
  }
  const started = unwrap(admitted);
  if (started.created) return streamAnswer(started);
  if ("body" in started) await started.body.cancel();
  return follow({ conversation, input, options }, unwrap(await team.run(started.run)));
}

/**
 * Sends messages of the user into the active run, each of them once; what else the request has belongs to a new run.
 *
 * @param problem why they started no run
 * @returns the run; undefined where it does not take them: it asks something, they are not text, or were said otherwise
 *   before; "ended" for one that has ended in the meantime
 */
async function steer(
  conversation: TeamConversation,
  { threadId, forwardedProps: { troupe } }: RunInput,
  { said, problem }: { said: Added["said"]; problem: Problem },
): Promise<RunInfo | "ended" | undefined> {
  if (problem.code !== "team_busy" && problem.code !== "idempotency_mismatch") return undefined;
  const isLimited = (troupe.timeout_seconds ?? troupe.max_total_tokens ?? null) !== null;
  const areTexts = said.every(
    ({ message }) =>
      message.role === "user" && textOf(message) !== "" && isOnlyText(message.content),
  );
  const run = await conversation.lastRun();
  if (isLimited || !areTexts || run === undefined || run.requests.length > 0) return undefined;
  for (const one of said) {
    const idempotency = await idempotencyOf(threadId, [one]);
    const sent = await conversation.steer(run, textOf(one.message), idempotency);
    if (!sent.ok && sent.problem.code === "idempotency_mismatch") return undefined;
    if (!sent.ok && sent.problem.code === "run_ended") return "ended";
    unwrap(sent);
  }
  return run;
}

/**
 * A message starts one run: a client that lost its connection sends the message again with another `runId`, as the protocol
 * says, and gets the same run.
 */
async function idempotencyOf(
  threadId: string,
  said: Added["said"],
): Promise<{ key: string; hash: string }> {
  const last = said.at(-1)?.message;
  const key = await sha256Hex(JSON.stringify([threadId, last?.id]));
  return { key: `ag-ui ${key}`, hash: await sha256Hex(JSON.stringify(last?.content)) };
}

/** The error for a message whose id was used for another one. */
function usedId(index: number, problem: Problem): ProblemError {
  const path = `messages[${index}].id`;
  const message =
    "was used in this thread for a message with another content; a new message needs a new id";
  return new ProblemError({
    ...problem,
    detail: "A message with this id was given before.",
    errors: [{ path, message }],
  });
}

/** @throws ProblemError 404 */
async function optionsOf(input: RunInput, team: TeamGateway): Promise<AgUiOptions> {
  const { threadId, runId, parentRunId, protocolVersion, state, given } = input;
  const { raw, reasoning, interrupts, ...shown } = input.forwardedProps.troupe;
  const old = protocolVersion === undefined;
  const { subagents = !old, activity = !old } = shown;
  return {
    threadId,
    runId,
    ...(parentRunId !== undefined && { parentRunId }),
    old,
    thread: keptThread(given),
    state: shareOf(state),
    raw,
    reasoning,
    interrupts,
    subagents: subagents ? innerTeamsOf(unwrap(await team.team()).component) : null,
    activity,
    dropped: [],
  };
}
