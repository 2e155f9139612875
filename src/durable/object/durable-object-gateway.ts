import type { Gateway, StreamCaller, TeamGateway } from "../../contract/gateways/team-gateway.ts";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import { refuseStored, UNREADABLE, unreadable } from "../../contract/stored-data.ts";
import { errorMessage } from "../../core/errors.ts";
import { fork, type ForkSourceStub, type ForkTargetStub } from "../fork/fork.ts";
import { type StreamClient, whenLeft } from "../stream/stream-places.ts";
import { readStartResponse, readStreamResponse, streamRequest } from "../stream/stream-request.ts";

/** A team object as a Worker calls it: streams over `fetch`, everything else over RPC. */
type TeamStub = Omit<TeamGateway, "stream" | "startStream" | "fork"> &
  ForkSourceStub &
  ForkTargetStub &
  DestroyStub & {
    fetch(request: Request): Promise<Response>;
    endStream(name: string): Promise<void>;
  };

/** The two ways to erase a team. */
export interface DestroyStub {
  destroy(): Promise<Result<null>>;
  wipe(): Promise<Result<null>>;
}

/**
 * Erases a team, also one whose data cannot be read. Of some of those not even the object can be started; its file is left
 * alone then.
 *
 * @param stub a new one each time: one whose object has ended with an error stays broken
 */
export async function destroy(stub: () => DestroyStub): Promise<Result<{ told: boolean }>> {
  const destroyed = await stub().destroy().catch(refuseUnlessAway);
  if (destroyed.ok) return ok({ told: true });
  if (destroyed.problem.code !== UNREADABLE) return destroyed;
  const wiped = await stub().wipe().catch(refuseUnlessAway);
  return wiped.ok ? ok({ told: false }) : wiped;
}

/** @throws an error that says that the object is overloaded, or being moved */
function refuseUnlessAway(error: unknown): Refused {
  const { overloaded, retryable } = error as { overloaded?: boolean; retryable?: boolean };
  if (overloaded === true || retryable === true) throw error;
  return refuseStored(error) ?? unreadable(errorMessage(error));
}

/** Finds team objects in a Durable Object namespace. */
export class DurableObjectGateway implements Gateway {
  readonly #namespace: DurableObjectNamespace;

  constructor(namespace: DurableObjectNamespace) {
    this.#namespace = namespace;
  }

  team(
    tenant: string,
    id: string,
    { credential, signal }: StreamCaller = { credential: "" },
  ): TeamGateway {
    const stub = this.#stub(tenant, id);
    const client = (): StreamClient => {
      const name = crypto.randomUUID();
      whenLeft(signal, () => stub.endStream(name));
      return { credential, stream: name };
    };
    return {
      create: (input) => stub.create(input),
      team: () => stub.team(),
      replaceComponent: (component) => stub.replaceComponent(component),
      destroy: () => destroy(() => this.#stub(tenant, id)),
      creation: () => stub.creation(),
      isRevoked: (token) => stub.isRevoked(token),
      revokeTokens: (token) => stub.revokeTokens(token),
      session: () => stub.session(),
      reset: () => stub.reset(),
      saveState: () => stub.saveState(),
      loadState: (state) => stub.loadState(state),
      statePage: (cursor) => stub.statePage(cursor),
      beginStatePart: (header) => stub.beginStatePart(header),
      addStateLines: (attempt, lines) => stub.addStateLines(attempt, lines),
      endStatePart: (attempt, end) => stub.endStatePart(attempt, end),
      stagedState: () => stub.stagedState(),
      discardStagedState: () => stub.discardStagedState(),
      commitStagedState: (state) => stub.commitStagedState(state),
      visibleState: () => stub.visibleState(),
      messages: (query) => stub.messages(query),
      conversationModel: () => stub.conversationModel(),
      createConversation: (input, model) => stub.createConversation(input, model),
      fork: (input) => fork(stub, this.#stub(tenant, input.id), input),
      startRun: (input) => stub.startRun(input),
      run: (run) => stub.run(run),
      runs: (page) => stub.runs(page),
      runTrace: (run, page) => stub.runTrace(run, page),
      waitForRun: (run, timeoutMs) => stub.waitForRun(run, timeoutMs),
      stopRun: (run, mode) => stub.stopRun(run, mode),
      pauseRun: (run) => stub.pauseRun(run),
      resumeRun: (run) => stub.resumeRun(run),
      retryRun: (run, idempotency) => stub.retryRun(run, idempotency),
      requests: (run) => stub.requests(run),
      answer: (run, request, answer) => stub.answer(run, request, answer),
      putPushConfig: (run, config) => stub.putPushConfig(run, config),
      pushConfigs: (run) => stub.pushConfigs(run),
      deletePushConfig: (run, config) => stub.deletePushConfig(run, config),
      createSchedule: (input) => stub.createSchedule(input),
      schedules: (page) => stub.schedules(page),
      schedule: (schedule) => stub.schedule(schedule),
      changeSchedule: (schedule, changes) => stub.changeSchedule(schedule, changes),
      deleteSchedule: (schedule) => stub.deleteSchedule(schedule),
      runSchedule: (schedule, idempotency) => stub.runSchedule(schedule, idempotency),
      stream: async ({ format, ...open }) =>
        readStreamResponse(await stub.fetch(streamRequest({ open, format, client: client() }))),
      startStream: async (input, format) =>
        readStartResponse(
          await stub.fetch(streamRequest({ start: input, format, client: client() })),
        ),
    };
  }

  #stub(tenant: string, id: string): TeamStub {
    const name = `${tenant}/${id}`;
    return this.#namespace.get(this.#namespace.idFromName(name)) as unknown as TeamStub;
  }
}
