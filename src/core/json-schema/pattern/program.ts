import { ValueError } from "../../errors.ts";
import type { Atom, Node } from "./syntax.ts";

/** An instruction of a nondeterministic automaton; all except `split` and `match` continue at the next one. */
export type Instruction =
  | { op: "atom"; atom: Atom }
  | { op: "assert"; kind: "start" | "end" | "boundary" | "inside" }
  | { op: "look"; negated: boolean; program: Program }
  | { op: "split"; to: readonly number[] }
  | { op: "match" };

export interface Program {
  instructions: readonly Instruction[];
  /** A look-behind reads the text from right to left. */
  backward: boolean;
}

/** Counted repetitions are written out, so `(a{1000}){1000}` would need a million. */
const MAX_INSTRUCTIONS = 10_000;

/** @throws ValueError when the program would be too large */
export function checkSize(node: Node): void {
  if (size(node) > MAX_INSTRUCTIONS) {
    throw new ValueError(
      `its repetitions need more than ${MAX_INSTRUCTIONS} states; use smaller counts, or minLength and maxLength`,
    );
  }
}

export function compile(node: Node): Program {
  return programOf(node, false);
}

function size(node: Node): number {
  switch (node.type) {
    case "atom":
    case "assert":
      return 1;
    case "look":
      return 2 + size(node.body);
    case "sequence":
      return total(node.parts);
    case "choice":
      return total(node.options) + 1 + node.options.length;
    case "repeat": {
      const { body, min, max } = node;
      const copies = max === Infinity ? min + 1 : max;
      return copies * (size(body) + 2);
    }
  }
}

function total(nodes: readonly Node[]): number {
  return nodes.reduce((sum, node) => sum + size(node), 0);
}

function programOf(node: Node, backward: boolean): Program {
  const instructions: Instruction[] = [];
  emit(node, { instructions, backward });
  instructions.push({ op: "match" });
  return { instructions, backward };
}

interface Output {
  instructions: Instruction[];
  backward: boolean;
}

function emit(node: Node, output: Output): void {
  const { instructions, backward } = output;
  switch (node.type) {
    case "atom":
      instructions.push({ op: "atom", atom: node.atom });
      return;
    case "assert":
      instructions.push({ op: "assert", kind: node.kind });
      return;
    case "look":
      instructions.push({
        op: "look",
        negated: node.negated,
        program: programOf(node.body, !node.ahead),
      });
      return;
    case "sequence":
      for (const part of backward ? node.parts.toReversed() : node.parts) emit(part, output);
      return;
    case "choice":
      emitChoice(node.options, output);
      return;
    case "repeat":
      emitRepeat(node, output);
  }
}

function emitChoice(options: readonly Node[], output: Output): void {
  const { instructions } = output;
  const starts: number[] = [];
  const ends: number[][] = [];
  instructions.push({ op: "split", to: starts });
  for (const option of options) {
    starts.push(instructions.length);
    emit(option, output);
    const end: number[] = [];
    ends.push(end);
    instructions.push({ op: "split", to: end });
  }
  for (const end of ends) end.push(instructions.length);
}

function emitRepeat(
  { body, min, max }: { body: Node; min: number; max: number },
  output: Output,
): void {
  const { instructions } = output;
  for (let count = 0; count < min; count++) emit(body, output);
  if (max === Infinity) {
    const start = instructions.length;
    const to = [start + 1];
    instructions.push({ op: "split", to });
    emit(body, output);
    instructions.push({ op: "split", to: [start] });
    to.push(instructions.length);
    return;
  }
  const exits: number[][] = [];
  for (let count = min; count < max; count++) {
    const to = [instructions.length + 1];
    exits.push(to);
    instructions.push({ op: "split", to });
    emit(body, output);
  }
  for (const to of exits) to.push(instructions.length);
}
