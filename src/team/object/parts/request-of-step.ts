import type { ModelRequest } from "../../../contract/team/model-request.ts";
import { ok, refuse, type Refused, type Result, runNotFound } from "../../../contract/result.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import { ComponentError } from "../../../core/errors.ts";
import { asJson, isJsonObject, type JsonObject, mapTexts } from "../../../core/json.ts";
import type { Runnable } from "../../../core/run/runnable.ts";
import { Redaction } from "../../../secrets/redaction.ts";
import type { ComponentSecrets } from "../../../secrets/component-secrets.ts";
import { type TracedTurn, turnSpans } from "../../../telemetry/spans/run-spans.ts";
import type { Span } from "../../../telemetry/spans/span.ts";
import { type ReplayedTurn, replayRequest } from "../../engine/requests/replayed-turn.ts";
import type { RunEngine } from "../../engine/run-engine.ts";
import { finishedTurns, givenUpTurn, turnInProgress } from "../../engine/views/turn-report.ts";
import { readSteps } from "../../storage/log/commits.ts";
import { type KeptStep, keptSteps } from "../../storage/log/kept-steps.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import type { TracedStep } from "../../storage/runs/step-store.ts";
import type { Stores } from "../../storage/stores.ts";
import { LogStore } from "../../storage/team-state.ts";
import { bounded, contextOf, parametersOf } from "./shown-request.ts";

export interface RequestParts {
  stores: Stores;
  engine: Pick<RunEngine, "active">;
  /** Builds the team of a component whose secrets are opened. */
  build: (component: ComponentModel) => Runnable | Promise<Runnable>;
  secrets: ComponentSecrets;
  env: object;
  hasMemories: boolean;
}

/** A step of a run, and its turn with all recorded steps. */
interface FoundStep {
  turn: TracedTurn;
  span: Span & { path: string };
  steps: ReadonlyMap<string, KeptStep>;
}

/** The request of a model call of a run, which is built again from what is stored. @param id the id of its span */
export async function requestOfStep(
  parts: RequestParts,
  run: string,
  id: string,
): Promise<Result<ModelRequest>> {
  const { stores } = parts;
  const stored = stores.runs.byId(run);
  if (stored === undefined) return runNotFound();
  const found = findStep(parts, stored, id);
  if (found === undefined)
    return refuse(404, "step_not_found", "The run has no such step, or its trace left it out.");
  const { span, steps, turn } = found;
  if (span.kind !== "chat")
    return refuse(404, "step_not_found", "The step is not a model call. Only these have requests.");
  if (span.discarded) return notKnown("The step was discarded after an interruption.");
  const step = steps.get(span.path);
  const sealed = stores.versions.at(turn.turn - 1);
  if (sealed === undefined) return notKnown("The component of that turn is not kept any more.");
  const { component } = await parts.secrets.openReadable(sealed);
  let runnable: Runnable;
  try {
    runnable = await parts.build(component);
  } catch (error) {
    if (!(error instanceof ComponentError)) throw error;
    return notKnown(`The team cannot be built as it was in that turn: ${error.message}.`);
  }
  try {
    const place: ReplayedTurn = {
      run: stored,
      number: turn.number,
      turn: turn.turn,
      steps,
      step: span.path,
    };
    const replayed = await replayRequest(stores, runnable, place, parts);
    if (replayed === undefined)
      return notKnown(
        "The request cannot be built again: a result that it depends on was not kept, the server's code has changed since, or an agent's code did not come to the call in time.",
      );
    const { request, fingerprint } = replayed;
    const reply = step?.outcome && "ok" in step.outcome ? step.outcome.ok : null;
    const answered = isJsonObject(reply) ? reply : null;
    const written = request.client.writeRequest?.(request.messages, request.options, {
      streamed: request.streamed,
      note: span.note,
      model: span.model ?? undefined,
    });
    const redaction = new Redaction(component);
    const body = written === undefined ? null : (JSON.parse(written.body) as JsonObject);
    const shown = bounded(
      // Secrets of the component are not shown where a text repeats them.
      mapTexts((text) => redaction.redact(text), {
        messages: asJson(request.messages) as JsonObject[],
        tools: asJson(request.options.tools ?? []) as JsonObject[],
        parameters: parametersOf(body, request),
        body,
        reply: answered,
      }),
    );
    const failure = step?.outcome && "error" in step.outcome ? step.outcome.error : null;
    return ok({
      run_id: run,
      team_id: stores.team.record.id,
      span_id: id,
      turn: turn.turn,
      path: span.path,
      agent: span.agent,
      model: span.model,
      provider: span.provider,
      matches:
        step === undefined || step.fingerprint === "" ? null : step.fingerprint === fingerprint,
      ...shown,
      server_path: written?.path ?? null,
      note: span.note ?? null,
      error: failure && { type: failure.code, message: redaction.redact(failure.message) },
      failed_attempts: attemptsOf(found, redaction),
      cut_off: step?.cutOff === undefined ? null : redaction.redact(step.cutOff),
      context: {
        ...(await contextOf(request)),
        prompt_tokens: span.tokens?.prompt_tokens ?? null,
        window: request.client.contextWindow ?? null,
      },
      usage: span.tokens,
    });
  } finally {
    await runnable.close();
  }
}

function notKnown(detail: string): Refused {
  return refuse(410, "request_not_known", detail);
}

/** The attempts of a step that failed. */
function attemptsOf(
  { turn, span, steps }: FoundStep,
  redaction: Redaction,
): ModelRequest["failed_attempts"] {
  const inTrace = turn.spans.find(({ path, discarded }) => path === span.path && !discarded);
  const kept = steps.get(span.path)?.failed ?? [];
  return (inTrace?.failed ?? []).map((traced, index) => {
    const { attempt, start, end, error, message, text } = { ...traced, ...kept[index] };
    return {
      attempt: attempt ?? index + 1,
      started_at: new Date(start).toISOString(),
      ended_at: new Date(end).toISOString(),
      error: {
        type: error,
        message: message === undefined ? null : redaction.redact(message),
      },
      text: text === undefined ? null : redaction.redact(text),
    };
  });
}

function findStep(
  { stores, engine }: Pick<RequestParts, "stores" | "engine">,
  stored: StoredRun,
  id: string,
): FoundStep | undefined {
  const { db, texts, log, runs } = stores;
  const active = engine.active?.record.id === stored.record.id ? engine.active : undefined;
  const record = active?.record ?? stored.record;
  const find = (turn: TracedTurn): FoundStep["span"] | undefined => {
    const span = turnSpans(record.id, turn).find((one) => one.id === id);
    return span?.path == null ? undefined : { ...span, path: span.path };
  };
  const inLogs = new LogStore(db, texts, log.references).makerData();
  const textOf = (turn: number): string | undefined => readSteps(db, texts, turn);
  const read = (text: string | undefined): Map<string, KeptStep> =>
    text === undefined ? new Map() : keptSteps(text, log.references, { inLogs, textOf });
  const last = active ? turnInProgress(active) : givenUpTurn(record);
  const span = last && find(last);
  if (last && span) {
    const steps = active ? stepsOf(stores.steps.entries()) : read(runs.steps(stored.seq));
    return { turn: last, span, steps };
  }
  for (const turn of finishedTurns(stores, { ...stored, record }, 0, Number.MAX_SAFE_INTEGER)) {
    const found = find(turn);
    if (found) return { turn, span: found, steps: read(textOf(turn.turn)) };
  }
  return undefined;
}

/** The steps of the turn in progress. */
function stepsOf(entries: Iterable<readonly [string, TracedStep]>): Map<string, KeptStep> {
  const steps = new Map<string, KeptStep>();
  for (const [key, { fingerprint, outcome, trace }] of entries) {
    steps.set(key, {
      fingerprint,
      failed: trace?.failed ?? [],
      ...(outcome && { outcome }),
      ...(trace?.cutOff !== undefined && { cutOff: trace.cutOff }),
    });
  }
  return steps;
}
