import type { TeamClient, ThreadMessage } from "troupe/client";

/** Two conversations: their common messages, and the different ones of each. */
export interface Diverged {
  /** The last common messages, oldest first. There may be earlier ones. */
  common: readonly ThreadMessage[];
  /** True if earlier common messages can be loaded. */
  hasEarlier: boolean;
  a: readonly ThreadMessage[];
  b: readonly ThreadMessage[];
}

const PAGE = 200;

/** Loads both conversations from their ends up to a common message. A fork keeps the ids of the messages that it copies. */
export async function diverged(a: TeamClient, b: TeamClient): Promise<Diverged> {
  const left = new Backwards(a);
  const right = new Backwards(b);
  for (;;) {
    const found = parting(left.messages, right.messages);
    if (found !== undefined) {
      const { a: inA, b: inB } = found;
      return {
        common: left.messages.slice(0, inA + 1),
        hasEarlier: left.hasEarlier,
        a: left.messages.slice(inA + 1),
        b: right.messages.slice(inB + 1),
      };
    }
    if (!left.hasEarlier && !right.hasEarlier) {
      return { common: [], hasEarlier: false, a: left.messages, b: right.messages };
    }
    await Promise.all([left.load(), right.load()]);
  }
}

/** The indexes of the last common message. */
function parting(
  a: readonly ThreadMessage[],
  b: readonly ThreadMessage[],
): { a: number; b: number } | undefined {
  const places = new Map(b.map(({ id }, index) => [id, index]));
  const inA = a.findLastIndex(({ id }) => places.has(id));
  const inB = places.get(a[inA]?.id ?? "");
  return inB === undefined ? undefined : { a: inA, b: inB };
}

/** A conversation, page by page from its end. */
class Backwards {
  readonly #team: TeamClient;
  #before: number | null = Number.MAX_SAFE_INTEGER;
  messages: readonly ThreadMessage[] = [];

  constructor(team: TeamClient) {
    this.#team = team;
  }

  get hasEarlier(): boolean {
    return this.#before !== null;
  }

  async load(): Promise<void> {
    if (this.#before === null) return;
    const page = await this.#team.messages({ before: this.#before, limit: PAGE });
    this.messages = [...page.messages, ...this.messages];
    this.#before = page.next_before;
  }
}
