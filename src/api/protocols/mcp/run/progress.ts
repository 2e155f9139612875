import type { ServerContext } from "@modelcontextprotocol/server";
import { isChatMessage, toText } from "../../../../core/messages/views.ts";
import type { Message } from "../../../../core/messages/message.ts";

/** Milliseconds between two notifications with pieces of text. */
const PIECES_EVERY_MS = 100;

/** Reports to a client that asks for progress: pieces of text while they are made, and complete messages. */
export class ProgressReporter {
  readonly #ctx: ServerContext;
  readonly #before: (progress: number) => void;
  #count: number;
  #pieces = "";
  #source = "";
  #sentAt = 0;

  /**
   * @param from the progress that the client has
   * @param before called before each notification
   */
  constructor(ctx: ServerContext, from: number, before: (progress: number) => void) {
    this.#ctx = ctx;
    this.#count = from;
    this.#before = before;
  }

  async item(item: Message): Promise<void> {
    if (item.type === "ModelClientStreamingChunkEvent") {
      if (item.source !== this.#source) await this.#sendPieces();
      this.#source = item.source;
      this.#pieces += item.content;
      if (Date.now() - this.#sentAt >= PIECES_EVERY_MS) await this.#sendPieces();
    } else if (isChatMessage(item)) {
      // The message has the pieces that were not sent, too.
      this.#pieces = "";
      await this.#send(toText(item), item);
    }
  }

  async #sendPieces(): Promise<void> {
    if (this.#pieces === "") return;
    const text = this.#pieces;
    this.#pieces = "";
    this.#sentAt = Date.now();
    await this.#send(text, { type: "ModelClientStreamingChunkEvent", source: this.#source });
  }

  async #send(message: string, { type, source }: { type: string; source: string }): Promise<void> {
    const { _meta, notify } = this.#ctx.mcpReq;
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return;
    this.#count += 1;
    this.#before(this.#count);
    await notify({
      method: "notifications/progress",
      params: {
        progressToken,
        progress: this.#count,
        message,
        _meta: { "troupe/type": type, "troupe/source": source },
      },
    });
  }
}
