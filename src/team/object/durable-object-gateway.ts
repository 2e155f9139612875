import { waitUntil } from "cloudflare:workers";
import type {
  AnswersInput,
  ForkTeamInput,
  Gateway,
  StartRunInput,
  StreamCaller,
  StreamInput,
  TeamGateway,
  StreamFormat,
  TokenOfTeam,
} from "../../contract/gateways/team-gateway.ts";
import {
  ok,
  type Refused,
  refuseStored,
  type Result,
  UNREADABLE,
  unreadable,
} from "../../contract/result.ts";
import { errorMessage } from "../../core/errors.ts";
import { remoteMethods, typedStub } from "../../sqlite/remote-methods.ts";
import { fork } from "../fork/fork.ts";
import { credentialEnd, credentialRequest } from "../stream/credential-watch.ts";
import {
  type ObjectStream,
  passOn,
  type RelayOptions,
  type Seen,
  watch,
  watchRequest,
} from "../stream/watch-relay.ts";
import { IDLE_MS, type StreamClient, type WatcherCall } from "../stream/stream-places.ts";
import type { DestroyStub, TeamMethods } from "./handlers/team-methods.ts";
import {
  type Pass,
  readStartResponse,
  readStreamResponse,
  type StreamCall,
  streamRequest,
} from "./stream-request.ts";

/** A team object as a Worker calls it: streams over `fetch`, everything else over RPC. */
type TeamStub = TeamMethods & { endStream(name: string): Promise<void> };

/**
 * Erases a team, also one whose data cannot be read. Of some of those not even the object can be started; its file is left
 * alone then.
 *
 * @param stub a new one each time: one whose object has ended with an error stays broken
 */
export async function destroy(stub: () => DestroyStub): Promise<Result<{ reported: boolean }>> {
  const destroyed = await stub().destroy().catch(refuseUnlessAway);
  if (destroyed.ok) return ok({ reported: true });
  if (destroyed.problem.code !== UNREADABLE) return destroyed;
  const wiped = await stub().wipe().catch(refuseUnlessAway);
  return wiped.ok ? ok({ reported: false }) : wiped;
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
  readonly #streamCpuMs: number;
  readonly #idleMs: number;

  /**
   * @param streamCpuMs the CPU time that the Worker may use for the stream of one watcher
   * @param idleMs how long the objects are held by the streams of runs that wait, in milliseconds
   */
  constructor(namespace: DurableObjectNamespace, streamCpuMs: number, idleMs = IDLE_MS) {
    this.#namespace = namespace;
    this.#streamCpuMs = streamCpuMs;
    this.#idleMs = idleMs;
  }

  team(
    tenant: string,
    id: string,
    { credential, signal }: StreamCaller = { credential: "" },
  ): TeamGateway {
    const stub = this.#stub(tenant, id);
    const client = (): StreamClient => {
      const name = crypto.randomUUID();
      // The runtime itself reports to the object only at the next write that the client has disconnected.
      const leave = (): void => waitUntil(stub.endStream(name).catch(() => undefined));
      signal?.addEventListener("abort", leave, { once: true });
      return { credential, stream: name };
    };
    const relay = (run: string | null): RelayOptions => ({
      open: (after, continues) => {
        const watcher: WatcherCall = { credential, stream: crypto.randomUUID(), run, continues };
        return stub.fetch(watchRequest({ after, client: watcher }));
      },
      signal,
      cpuMs: this.#streamCpuMs,
    });
    const passOf = (run: string, { format, client: { stream } }: StreamCall, after = 0): Pass => {
      const reopen = async (seen: Seen): Promise<ObjectStream | undefined> => {
        const again = client();
        const call = streamRequest({ open: { run, after, seen }, format, client: again });
        const opened = await readStreamResponse(await stub.fetch(call), (body) => body);
        if (!opened.ok || !("body" in opened.value)) return undefined;
        return { body: opened.value.body, stream: again.stream };
      };
      const options = { ...relay(run), idleMs: this.#idleMs, reopen: format && reopen };
      return (body) => passOn({ body, stream }, options);
    };
    return remoteMethods(stub, {
      destroy: () => destroy(() => this.#stub(tenant, id)),
      tokenEnds: async (token: TokenOfTeam, until: AbortSignal) =>
        credentialEnd(await stub.fetch(credentialRequest(token)), until),
      fork: (input: ForkTeamInput) => fork(stub, this.#stub(tenant, input.id), input),
      stream: async ({ format, ...open }: StreamInput) => {
        if (format !== undefined) {
          const call = { open, format, client: client() };
          const pass = open.run === null ? undefined : passOf(open.run, call, open.after);
          return readStreamResponse(await stub.fetch(streamRequest(call)), pass);
        }
        const watched = await watch({ ...relay(open.run), after: open.after });
        return watched instanceof Response ? readStreamResponse(watched) : ok({ body: watched });
      },
      continueRun: async (continues: AnswersInput, { format, after }: Omit<StreamInput, "run">) => {
        const { run } = continues;
        const call = { open: { run, after }, continues, format, client: client() };
        return readStreamResponse(await stub.fetch(streamRequest(call)), passOf(run, call, after));
      },
      startStream: async (input: StartRunInput, format?: StreamFormat) => {
        const call = { start: input, format, client: client() };
        const response = await stub.fetch(streamRequest(call));
        return readStartResponse(response, (run) => passOf(run, call));
      },
    });
  }

  #stub(tenant: string, id: string): DurableObjectStub & TeamStub {
    return typedStub<TeamStub>(this.#namespace, `${tenant}/${id}`);
  }
}
