import type { ServerContext } from "@modelcontextprotocol/server";
import { isChatMessage } from "../../../core/messages/kinds.ts";
import type { Message } from "../../../core/messages/message.ts";
import { toText } from "../../../core/messages/views.ts";

/** Milliseconds between two notifications with pieces of text. */
const PIECES_EVERY_MS = 100;

/** Tells a client what a team says, if it wants to know: pieces of text while they are made, and whole messages. */
export class Progress {
  readonly #ctx: ServerContext;
  #count = 0;
  #pieces = "";
  #source = "";
  #sentAt = 0;

  constructor(ctx: ServerContext) {
    this.#ctx = ctx;
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
