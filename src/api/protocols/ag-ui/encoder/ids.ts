/**
 * The ids under which clients get messages and calls of the team: their own ids, or numbered ones where a client has a void
 * message or call with the same id.
 */
export class Ids {
  /** How often an id was used. */
  readonly #uses = new Map<string, number>();
  readonly #sent = new Map<string, string>();

  /** The id for a new message or call. */
  next(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    const sent = uses === 1 ? id : `${id}~${uses}`;
    this.#sent.set(id, sent);
    return sent;
  }

  /** After a snapshot of the messages, clients have no numbered ids. */
  forget(): void {
    this.#uses.clear();
    this.#sent.clear();
  }

  /** The id under which clients got it last. */
  of(id: string): string {
    return this.#sent.get(id) ?? id;
  }
}
