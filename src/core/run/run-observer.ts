import type { Json } from "../json.ts";
import type { Board } from "../board/board.ts";
import type { SharedState } from "../state/shared-state.ts";
import { partsOf, type Stateful } from "../state/stateful.ts";
import type { TurnContext } from "../turn/turn-context.ts";

/**
 * A part of an agent or team that acts when a whole run begins or ends, such as a memory that learns from it. Hosts find
 * it in the tree of `stateParts`, also in inner teams and in agents that are tools.
 */
export interface RunObserver {
  /** A run begins. What is left of a run that was cancelled or has failed does not belong to it. */
  runBegins(): void;
  /**
   * The run is complete and its last message was yielded; what happens here is a part of its last turn.
   *
   * @returns what it could not do because of an error that passes
   */
  runEnds(ctx: TurnContext): Promise<Unfinished | undefined>;
  /** Another attempt, after the run, which changes none of the observer's state. @param todo as returned by the attempt before */
  finish(todo: Json, ctx: TurnContext): Promise<Unfinished | undefined>;
}

/** Work that is left to do after a run. */
export interface Unfinished {
  /** The input of the next attempt. */
  todo: Json;
  /** The note on the run if no attempt succeeds: what it does without, and why. */
  note: string;
}

/** The unfinished work of the observer at a path. */
export interface UnfinishedAt extends Unfinished {
  path: string;
}

/** The observers in a tree, by their paths. */
export type RunObservers = ReadonlyMap<string, RunObserver>;

/** Finds the observers of a run. The component fixes the shape of the tree, so they are found once. */
export function observersOf(root: Stateful): RunObservers {
  const observers = new Map<string, RunObserver>();
  for (const [path, part] of partsOf(root)) if (isObserver(part)) observers.set(path, part);
  return observers;
}

/** @returns what is left to do */
export async function announceEnd(
  observers: RunObservers,
  ctx: TurnContext,
): Promise<UnfinishedAt[]> {
  const left: UnfinishedAt[] = [];
  for (const [path, observer] of observers) {
    const unfinished = await observer.runEnds(ctx.scope(`end${path}`));
    if (unfinished !== undefined) left.push({ path, ...unfinished });
  }
  return left;
}

/** A part of an agent that reads or changes what the team shares with the page of its user. */
export interface StateSharer {
  readonly shared: SharedState;
  shareWith(shared: SharedState): void;
}

/** A memory of an agent that reads and changes the board of the team. */
export interface BoardSharer {
  readonly board: Board;
  shareBoard(board: Board): void;
}

/** The state and the board that the parts of a team share; undefined where no part wants one. */
export interface SharedParts {
  shared: SharedState | undefined;
  board: Board | undefined;
}

/** Makes all parts of a tree share one state and one board, which each of them has stored. */
export function sharedPartsOf(root: Stateful): SharedParts {
  const [states, boards]: [StateSharer[], BoardSharer[]] = [[], []];
  for (const [, part] of partsOf(root)) {
    if (isStateSharer(part)) states.push(part);
    if (isBoardSharer(part)) boards.push(part);
  }
  // A part that the component has got since the last turn has none of it yet.
  const shared = (states.find((one) => !one.shared.isEmpty) ?? states[0])?.shared;
  const board = (boards.find((one) => !one.board.isEmpty) ?? boards[0])?.board;
  if (shared !== undefined) for (const sharer of states) sharer.shareWith(shared);
  if (board !== undefined) for (const sharer of boards) sharer.shareBoard(board);
  return { shared, board };
}

function isObserver(part: object): part is RunObserver {
  return "runBegins" in part && "runEnds" in part;
}

function isStateSharer(part: object): part is StateSharer {
  return "shared" in part && "shareWith" in part;
}

function isBoardSharer(part: object): part is BoardSharer {
  return "board" in part && "shareBoard" in part;
}
