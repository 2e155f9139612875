/**
 * The ids under which clients get messages and calls of the team: their own ids, or numbered ones where a client has a void
 * message or call with the same id.
 */
export class Ids {
  /** The number of uses of each id. */
  #uses = new Map<string, number>();
  /** The number of uses of an id when reasoning last got it. */
  readonly #ofThoughts = new Map<string, number>();
  readonly #sent = new Map<string, string>();

  /** The id for a new message or call. */
  next(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    const sent = uses === 1 ? id : `${id}~${uses}`;
    this.#sent.set(id, sent);
    return sent;
  }

  /** The id for new reasoning, which clients keep when they get a snapshot of the messages. */
  nextThought(id: string): string {
    const sent = this.next(id);
    this.#ofThoughts.set(id, this.#uses.get(id) ?? 1);
    return sent;
  }

  /** Notes the id under which clients have a message. */
  use(id: string, sent: string): void {
    this.#sent.set(id, sent);
  }

  /** After a snapshot of the messages, clients have no numbered ids but those of reasoning. */
  forget(): void {
    this.#uses = new Map(this.#ofThoughts);
    this.#sent.clear();
  }

  /** The id under which clients got it last. */
  of(id: string): string {
    return this.#sent.get(id) ?? id;
  }
}
