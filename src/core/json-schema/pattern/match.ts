import type { WorkLimit } from "./work-limit.ts";
import type { Program } from "./program.ts";

/** One text being searched; caches the results of look-arounds, which would otherwise run once per path to them. */
export class Search {
  readonly #characters: readonly string[];
  readonly #limit: WorkLimit;
  readonly #looks = new Map<Program, Map<number, boolean>>();

  constructor(text: string, limit: WorkLimit) {
    this.#characters = Array.from(text);
    this.#limit = limit;
    limit.spend(this.#characters.length);
  }

  /** True if the program matches anywhere. */
  find(program: Program): boolean {
    return this.#run(program, 0, true);
  }

  /**
   * Follows all paths through the program in parallel, character by character: time is at most the length of the text
   * times the size of the program.
   */
  #run(program: Program, from: number, anywhere: boolean): boolean {
    const { instructions, backward } = program;
    this.#limit.spend(1 + (instructions.length >> 3));
    const end = backward ? 0 : this.#characters.length;
    const step = backward ? -1 : 1;
    let current = new States(instructions.length);
    let next = new States(instructions.length);
    for (let position = from; ; position += step) {
      if ((position === from || anywhere) && this.#reach(program, 0, position, current))
        return true;
      if (position === end || (!anywhere && current.atoms.length === 0)) return false;
      const character = this.#characters[backward ? position - 1 : position] ?? "";
      for (const index of current.atoms) {
        this.#limit.spend();
        const instruction = instructions[index];
        if (instruction?.op !== "atom" || !instruction.atom(character)) continue;
        if (this.#reach(program, index + 1, position + step, next)) return true;
      }
      [current, next] = [next, current];
      next.clear();
    }
  }

  /**
   * Adds all instructions reachable at `position` without reading a character; returns true if one of them is a match.
   */
  #reach({ instructions }: Program, start: number, position: number, states: States): boolean {
    const open = [start];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (!states.add(index)) continue;
      this.#limit.spend();
      const instruction = instructions[index];
      if (instruction === undefined) continue;
      switch (instruction.op) {
        case "match":
          return true;
        case "atom":
          states.atoms.push(index);
          break;
        case "split":
          open.push(...instruction.to);
          break;
        case "assert":
          if (this.#holds(instruction.kind, position)) open.push(index + 1);
          break;
        case "look":
          if (this.#look(instruction.program, position) !== instruction.negated) {
            open.push(index + 1);
          }
      }
    }
    return false;
  }

  #holds(kind: "start" | "end" | "boundary" | "inside", position: number): boolean {
    if (kind === "start") return position === 0;
    if (kind === "end") return position === this.#characters.length;
    const boundary = this.#isWord(position - 1) !== this.#isWord(position);
    return kind === "boundary" ? boundary : !boundary;
  }

  #isWord(position: number): boolean {
    return /^\w$/.test(this.#characters[position] ?? "");
  }

  #look(program: Program, position: number): boolean {
    let outcomes = this.#looks.get(program);
    if (outcomes === undefined) this.#looks.set(program, (outcomes = new Map()));
    let outcome = outcomes.get(position);
    if (outcome === undefined) {
      outcome = this.#run(program, position, false);
      outcomes.set(position, outcome);
    }
    return outcome;
  }
}

/** The instructions reached at one position. */
class States {
  readonly atoms: number[] = [];
  readonly #round: Uint32Array;
  #now = 1;

  constructor(size: number) {
    this.#round = new Uint32Array(size);
  }

  add(index: number): boolean {
    if (this.#round[index] === this.#now) return false;
    this.#round[index] = this.#now;
    return true;
  }

  clear(): void {
    this.atoms.length = 0;
    this.#now++;
  }
}
