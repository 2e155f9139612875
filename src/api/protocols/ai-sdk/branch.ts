import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import type { TeamInfo } from "../../../contract/team.ts";
import { isJsonObject } from "../../../core/json.ts";
import { authorOf, type Principal } from "../../auth/principal.ts";
import { callerOf } from "../../http/access/access-control.ts";
import { newTeamId, reservedId } from "../../http/input/team-input.ts";
import { invalid, unwrap } from "../../http/endpoint/problem.ts";
import type { ProtocolServices } from "../shared/services.ts";

/** The run that a message of the user started, and the turn that the team had finished before. */
export interface StartedRun {
  run: RunInfo;
  before: number;
}

/** Runs of a chat, latest first; the cursor is the one of the runs before. */
export interface ChatRuns {
  runs: { team: TeamGateway; run: RunInfo }[];
  next_cursor: string | null;
}

/** The beginning of a page of runs: a cursor of a team's runs, of which those down to `until` do not count. */
interface PageStart {
  team: string;
  until: string;
  cursor: string;
}

/** The caller of the chat, and the team of its address. */
export interface ChatAddress {
  services: Pick<ProtocolServices, "gateway" | "tenants" | "limits">;
  principal: Principal;
  team: string;
  signal: AbortSignal;
}

/**
 * The conversation of a chat. It begins in the team of the chat's address. A message that is edited or answered again makes a
 * fork, in which the conversation continues; the team of the address knows the latest one.
 */
export class ChatBranch {
  readonly #address: ChatAddress;
  /** The team in which the conversation continues. */
  readonly id: string;
  readonly team: TeamGateway;

  private constructor(address: ChatAddress, id: string) {
    this.#address = address;
    this.id = id;
    this.team = this.#teamOf(id);
  }

  /** @throws ProblemError */
  static async open(address: ChatAddress): Promise<ChatBranch> {
    const root = new ChatBranch(address, address.team);
    const fork = unwrap(await root.team.kept(KEPT))?.fork;
    if (typeof fork !== "string") return root;
    const branch = new ChatBranch(address, fork);
    // A fork that was deleted takes its part of the conversation with it.
    const found = await branch.team.team();
    if (found.ok) return branch;
    if (found.problem.code !== "team_not_found") unwrap(found);
    return root;
  }

  /** The run that a user's message started, in this branch or in what it continues. @throws ProblemError */
  async startedBy(message: string): Promise<StartedRun | undefined> {
    let found: RunInfo | undefined;
    const { max_page_size: limit } = this.#address.services.limits;
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: ChatRuns = await this.runs({ limit, ...(cursor !== undefined && { cursor }) });
      for (const { run } of page.runs) {
        if (found !== undefined && !isStartedBy(run, message)) {
          const earlier = run.team_id === found.team_id ? run.turn : 0;
          return { run: found, before: Math.max(turnBefore(found), earlier) };
        }
        if (isStartedBy(run, message)) found = run;
      }
      cursor = page.next_cursor;
    }
    return found && { run: found, before: turnBefore(found) };
  }

  /** A new branch, which begins before the run. It holds the conversation once it is {@link keep}t. @throws ProblemError */
  async forkBefore({ run, before }: StartedRun): Promise<ChatBranch> {
    const { services, principal } = this.#address;
    const wanted = await newTeamId(principal.tenant, "chat");
    const id = await reservedId(services.tenants, principal, wanted, undefined);
    const source = this.#teamOf(run.team_id);
    const first = unwrap(await source.team()).forked_from?.turn ?? 0;
    unwrap(await source.fork({ id, turn: Math.max(before, first), by: authorOf(principal) }));
    return new ChatBranch(this.#address, id);
  }

  /** Makes this the branch in which the conversation continues. @throws ProblemError */
  async keep(): Promise<void> {
    unwrap(await this.#teamOf(this.#address.team).keep(KEPT, { fork: this.id }));
  }

  /** The runs of the conversation: those of this branch, then those before it. @throws ProblemError */
  async runs({ cursor, limit }: { cursor?: string; limit: number }): Promise<ChatRuns> {
    let { team: id, until, cursor: at } = await this.#placeOf(cursor);
    const runs: ChatRuns["runs"] = [];
    for (;;) {
      const team = this.#teamOf(id);
      const page = unwrap(
        await team.runs({ limit: limit - runs.length, ...(at !== "" && { cursor: at }) }),
      );
      for (const run of page.runs) {
        if (until === "") runs.push({ team, run });
        else if (run.id === until) until = "";
      }
      if (page.next_cursor === null) {
        const parent = await this.#parent(id);
        if (parent === undefined) return { runs, next_cursor: null };
        const oldest = page.runs.at(-1);
        [id, until, at] = [parent, (oldest && replacedBy(oldest)) ?? "", ""];
      } else at = page.next_cursor;
      if (runs.length >= limit) {
        const next = id === this.id && until === "" ? at : [id, until, at].join(SEPARATOR);
        return { runs, next_cursor: next };
      }
    }
  }

  /** @throws ProblemError 422 for a cursor of another conversation */
  async #placeOf(cursor = ""): Promise<PageStart> {
    const [team = "", until = "", ...rest] = cursor.split(SEPARATOR);
    if (rest.length === 0) return { team: this.id, until: "", cursor };
    for (let id: string | undefined = this.id; id !== undefined; id = await this.#parent(id)) {
      if (id === team) return { team, until, cursor: rest.join(SEPARATOR) };
    }
    const message = "must be the next_cursor of an earlier page";
    throw invalid("invalid_query", "The query is invalid.", [{ path: "cursor", message }]);
  }

  /** The team that a branch was forked from; undefined for that of the address. */
  async #parent(id: string): Promise<string | undefined> {
    if (id === this.#address.team) return undefined;
    const found = await this.#teamOf(id).team();
    const info: TeamInfo | undefined = found.ok ? found.value : undefined;
    return info?.forked_from?.team_id;
  }

  #teamOf(id: string): TeamGateway {
    const { services, principal, signal } = this.#address;
    const caller = callerOf(principal, { signal, isForPages: true });
    return services.gateway.team(principal.tenant, id, caller);
  }
}

const SEPARATOR = "~";
/** The name of what the team of the address keeps. */
const KEPT = "ai_sdk_chat";

/** The chat message stored with the run that it started. */
interface OfChat {
  message: unknown;
  replaces: unknown;
}

function ofChat({ metadata }: RunInfo): Partial<OfChat> {
  return isJsonObject(metadata.ai_sdk) ? metadata.ai_sdk : {};
}

export function isStartedBy(run: RunInfo, message: string): boolean {
  return ofChat(run).message === message;
}

/** The run whose place another has taken, in the team that its own was forked from. */
function replacedBy(run: RunInfo): string | undefined {
  const { replaces } = ofChat(run);
  return typeof replaces === "string" ? replaces : undefined;
}

/** The turn before the one that took the task. */
function turnBefore({ turn, turns }: RunInfo): number {
  return Math.max(0, turn - turns - 1);
}
