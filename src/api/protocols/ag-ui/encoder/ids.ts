/** The ids that clients know things of the team by: their own, unless something had them before, which was void. */
export class Ids {
  /** How often an id was used. */
  readonly #uses = new Map<string, number>();
  readonly #sent = new Map<string, string>();

  /** The id of something new. */
  next(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    const sent = uses === 1 ? id : `${id}~${uses}`;
    this.#sent.set(id, sent);
    return sent;
  }

  /** Clients have nothing any more whose id is not its own. */
  forget(): void {
    this.#uses.clear();
    this.#sent.clear();
  }

  /** The id of what had it last. */
  of(id: string): string {
    return this.#sent.get(id) ?? id;
  }
}
