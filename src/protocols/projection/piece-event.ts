/** The event of a piece of text, of which all but the text is encoded once: pieces are most of what is sent. */
export class PieceEvent {
  readonly #before: string;
  readonly #after: string;

  /**
   * @param event as it is for an empty text
   * @param field the member that has the text. Within other texts its quotes would be escaped
   */
  constructor(event: string, field: string) {
    const [before, after] = event.split(`"${field}":""`);
    if (before === undefined || after === undefined) {
      throw new TypeError(`the event has no empty ${field}`);
    }
    this.#before = `${before}"${field}":`;
    this.#after = after;
  }

  write(text: string): string {
    return this.#before + JSON.stringify(text) + this.#after;
  }
}
