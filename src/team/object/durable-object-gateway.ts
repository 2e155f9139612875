import { waitUntil } from "cloudflare:workers";
import { RESTARTED } from "../../contract/constants.ts";
import {
  type AnswersInput,
  type ForkTeamInput,
  type Gateway,
  REPEATABLE_TEAM_CALLS,
  type StartRunInput,
  type StreamCaller,
  type StreamInput,
  type TeamGateway,
  type StreamFormat,
  type TokenOfTeam,
} from "../../contract/gateways/team-gateway.ts";
import { ok, type Result, teamNotFound } from "../../contract/result.ts";
import { errorMessage } from "../../core/errors.ts";
import { eraseObject } from "../../sqlite/erase.ts";
import {
  remoteMethods,
  type RemoteObject,
  remoteObject,
  teamNamed,
} from "../../sqlite/remote-methods.ts";
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
import { withShownLogins } from "./shown-logins.ts";
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

/** Calls that may be made twice. A fork is continued where it is, by the request that it belongs to. */
const CALLS = [
  ...REPEATABLE_TEAM_CALLS,
  "user",
  "endStream",
  "forkPoint",
  "forkPage",
  "forkProgress",
  "beginFork",
  "continueFork",
] as const;

/**
 * Erases a team, also one whose data cannot be read. Of some of those not even the object can be started; its file is left
 * alone then.
 *
 * @throws an error that passes
 */
export async function destroy(team: DestroyStub): Promise<Result<{ reported: boolean }>> {
  const destroyed = await eraseObject(
    { is: "team" },
    { erase: () => team.destroy(), wipe: () => team.wipe() },
  );
  if (destroyed === "wiped") return ok({ reported: false });
  return destroyed.ok ? ok({ reported: true }) : destroyed;
}

/** Restarts a team with its data of a moment. A team that did not exist then, nor does now, is unknown. */
async function recover(team: RemoteObject<TeamStub>, time: number): Promise<Result<null>> {
  const prepared = await team.prepareRecovery(time);
  if (!prepared.ok) return prepared;
  try {
    await team.restart();
  } catch (error) {
    // The object ends with this call, which has no other answer.
    if (!errorMessage(error).includes(RESTARTED)) throw error;
  }
  const found = await team.creation();
  return found.ok ? ok(null) : found;
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
    { credential, signal, sees, team_user }: StreamCaller = { credential: "" },
  ): TeamGateway {
    const stub = this.#stub(tenant, id);
    const client = (): StreamClient => {
      const name = crypto.randomUUID();
      // The runtime itself reports to the object only at the next write that the client has disconnected.
      const leave = (): void => waitUntil(stub.endStream(name).catch(() => undefined));
      signal?.addEventListener("abort", leave, { once: true });
      return { credential, stream: name, sees };
    };
    const relay = (run: string | null): RelayOptions => ({
      open: (after, continues) => {
        const watcher: WatcherCall = {
          credential,
          stream: crypto.randomUUID(),
          sees,
          run,
          continues,
        };
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
    // Streams show addresses by themselves.
    const shown = (): typeof stub => (sees === undefined ? stub : withShownLogins(stub, sees));
    const team = remoteMethods(shown, {
      destroy: () => destroy(stub),
      recover: (time: number) => recover(stub, time),
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
    return team_user === undefined ? team : ownTeam(team, team_user, () => stub.user());
  }

  #stub(tenant: string, id: string): RemoteObject<TeamStub> {
    return remoteObject<TeamStub>(this.#namespace, teamNamed(tenant, id), CALLS);
  }
}

/** Makes a team, which no one else can have before: an id that is taken is refused. */
const MAKES: ReadonlySet<PropertyKey> = new Set(["create", "createConversation"]);

/**
 * A team for a caller who may reach only the teams of one user. Any other team answers each call as one that does not exist.
 *
 * @param userOf whose team it is
 */
function ownTeam(
  team: TeamGateway,
  user: string,
  userOf: () => Promise<Result<string | null>>,
): TeamGateway {
  return new Proxy(team, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || MAKES.has(name)) return method;
      return async (...args: unknown[]): Promise<unknown> => {
        const found = await userOf();
        if (!found.ok) return found;
        return found.value === user ? Reflect.apply(method, target, args) : teamNotFound();
      };
    },
  });
}
