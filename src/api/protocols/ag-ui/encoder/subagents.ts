import type { Problem } from "../../../../contract/problem.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { AgUiEvent, SubagentOutcome } from "../wire/events.ts";
import type { AgUiOptions } from "../wire/options.ts";

interface OpenSubagent {
  id: string;
  /** The inner teams around it. */
  within: readonly string[];
}

/**
 * The turns of agents as subagents, and the inner teams around them.
 *
 * An id belongs to one turn. It is made from the place in the log where the turn began, so that another encoder of the same
 * stream, which has read the log up to there, makes the same. After a pause the log does not say which turns were shown before:
 * until it grows, no turn is.
 */
export class Subagents {
  readonly #runId: string;
  readonly #innerTeams: AgUiOptions["subagents"];
  /** By name, in the order in which they began. */
  readonly #open = new Map<string, OpenSubagent>();
  /** The cursor of the last recorded frame. */
  #cursor = "0";
  #pausedAt: string | undefined;
  /** Agents whose turns began since the last recorded frame. */
  readonly #begun = new Set<string>();

  constructor({ runId, subagents }: Pick<AgUiOptions, "runId" | "subagents">) {
    this.#runId = runId;
    this.#innerTeams = subagents;
  }

  /** Takes note of a recorded frame. */
  recorded(cursor: string): void {
    this.#cursor = cursor;
    this.#begun.clear();
  }

  begin(name: string): AgUiEvent[] {
    if (this.#innerTeams === null || name === "user" || this.#open.has(name)) return [];
    if (this.#cursor === this.#pausedAt || this.#begun.has(name)) return [];
    const within = innerTeams(this.#innerTeams, name);
    const left = this.#leaveOthers([...within, name]);
    this.#begun.add(name);
    const path = [...within, name];
    const started = path.flatMap((one, depth) => this.#start(one, path.slice(0, depth), name));
    return [...left, ...started];
  }

  end(name: string): AgUiEvent[] {
    const subagent = this.#open.get(name);
    return subagent === undefined ? [] : this.#finish(name, subagent, { type: "success" });
  }

  completed(): AgUiEvent[] {
    return this.#endAll(() => ({ type: "success" }));
  }

  /** The run is paused: its turns run again. */
  paused(): AgUiEvent[] {
    const ended = this.#endAll(() => ({ type: "suspended" }));
    this.#pausedAt = this.#cursor;
    return ended;
  }

  /** @param requests the questions that the client is asked */
  waits(requests: RunInfo["requests"]): AgUiEvent[] {
    return this.#endAll((name) => {
      const interruptIds = requests
        .filter(({ source, kind }) => source === name && kind !== "tool")
        .map(({ id }) => id);
      return { type: "suspended", ...(interruptIds.length > 0 && { interruptIds }) };
    });
  }

  /** @param agent that failed, where it is known: the turns beside it are only broken off */
  failed({ detail, code }: Pick<Problem, "detail" | "code">, agent?: string): AgUiEvent[] {
    const begun = agent === undefined ? [] : this.begin(agent);
    const within = agent === undefined ? undefined : this.#open.get(agent)?.within;
    const ended = [...this.#open].toReversed().flatMap(([name, subagent]): AgUiEvent[] => {
      if (within !== undefined && name !== agent && !within.includes(name)) {
        return this.#finish(name, subagent, { type: "suspended" });
      }
      this.#open.delete(name);
      return [{ type: "SUBAGENT_ERROR", subagentRunId: subagent.id, message: detail, code }];
    });
    return [...begun, ...ended];
  }

  /** @param agent whose turn begins: itself, or the first in an inner team */
  #start(name: string, within: readonly string[], agent: string): AgUiEvent[] {
    if (this.#open.has(name)) return [];
    const id = `${this.#runId}:${this.#cursor}:${within.length}:${agent}`;
    this.#open.set(name, { id, within });
    const parent = this.#open.get(within.at(-1) ?? "");
    return [
      {
        type: "SUBAGENT_STARTED",
        subagentRunId: id,
        name,
        ...(parent !== undefined && { parentSubagentRunId: parent.id }),
      },
    ];
  }

  /** Ends the inner teams that the path of the next speaker leaves. */
  #leaveOthers(path: readonly string[]): AgUiEvent[] {
    const isTeam = (name: string): boolean =>
      Object.values(this.#innerTeams ?? {}).some((within) => within.includes(name));
    return [...this.#open].toReversed().flatMap(([name, subagent]) => {
      const isBusy = [...this.#open.values()].some(({ within }) => within.includes(name));
      if (!isTeam(name) || isBusy || path.includes(name)) return [];
      return this.#finish(name, subagent, { type: "success" });
    });
  }

  #endAll(outcomeOf: (name: string) => SubagentOutcome): AgUiEvent[] {
    return [...this.#open]
      .toReversed()
      .flatMap(([name, subagent]) => this.#finish(name, subagent, outcomeOf(name)));
  }

  #finish(name: string, { id }: OpenSubagent, outcome: SubagentOutcome): AgUiEvent[] {
    this.#open.delete(name);
    return [{ type: "SUBAGENT_FINISHED", subagentRunId: id, outcome }];
  }
}

function innerTeams(teams: NonNullable<AgUiOptions["subagents"]>, name: string): readonly string[] {
  return Object.hasOwn(teams, name) ? (teams[name] ?? []) : [];
}
