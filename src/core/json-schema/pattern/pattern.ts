import { WorkLimit } from "./work-limit.ts";
import { Search } from "./match.ts";
import { checkSize, compile, type Program } from "./program.ts";
import { type Node, parsePattern } from "./syntax.ts";

/**
 * A regular expression from a JSON Schema. The runtime's own engine backtracks: 40 characters can keep it busy for
 * hours, and nothing can interrupt it. This one takes time proportional to the text. It answers as `RegExp` with the
 * `u` flag does; back references are refused, look-arounds count against the limit of work.
 */
export class Pattern {
  readonly #tree: Node;
  #program: Program | undefined;

  /** @throws ValueError when the pattern is invalid, too large, or has back references */
  constructor(source: string) {
    this.#tree = parsePattern(source);
    checkSize(this.#tree);
  }

  /** True if the pattern matches somewhere in `text`. */
  test(text: string, limit = new WorkLimit()): boolean {
    this.#program ??= compile(this.#tree);
    return new Search(text, limit).find(this.#program);
  }
}
