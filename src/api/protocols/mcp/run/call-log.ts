import { beginningOf } from "../../../../core/cut.ts";
import type { LoggingLevel, ServerContext } from "@modelcontextprotocol/server";
import type { RunInfo } from "../../../../contract/run.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { Message } from "../../../../core/messages/message.ts";
import { isChatMessage } from "../../../../core/messages/views.ts";
import { sessionSettings } from "../session/session-settings.ts";
import type { McpRequest } from "../session/services.ts";

/** From the least to the most serious. */
const LEVELS: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** The field of a call's `_meta` with its level, in the revision without sessions. */
const LEVEL = "io.modelcontextprotocol/logLevel";

/** Characters of the arguments or the result of a tool in a message. */
const LONGEST_TEXT = 2_000;

/** The call whose client gets the messages. */
interface LoggedCall {
  request: McpRequest;
  ctx: ServerContext;
}

/** Sends a client what happens in a run as log messages, if it has set a level: in its session, or in the call. */
export class CallLog {
  readonly #call: LoggedCall;
  readonly #lowest: Promise<number>;
  /** Called before each message. */
  readonly #before: () => void;
  #speaker: string | undefined;

  constructor(call: LoggedCall, before: () => void) {
    this.#call = call;
    this.#before = before;
    this.#lowest = lowestLevel(call);
  }

  async item(item: Message): Promise<void> {
    if (isChatMessage(item)) {
      if (item.source !== this.#speaker) await this.#log("debug", { speaker: item.source });
      this.#speaker = item.source;
    }
    if (item.type === "ToolCallRequestEvent") {
      for (const { name, arguments: args } of item.content)
        await this.#log("info", { source: item.source, calls: name, arguments: cut(args) });
    }
    if (item.type === "ToolCallExecutionEvent") {
      for (const { name, content, is_error } of item.content) {
        const level = is_error ? "warning" : "info";
        await this.#log(level, { source: item.source, called: name, result: cut(content) });
      }
    }
  }

  async run({ status, error, requests }: RunInfo): Promise<void> {
    if (status === "waiting") {
      for (const { source, kind } of requests) await this.#log("notice", { source, asks: kind });
    }
    if (error !== null) await this.#log("error", { type: error.type, message: error.message });
  }

  async #log(level: LoggingLevel, data: JsonObject): Promise<void> {
    if (LEVELS.indexOf(level) < (await this.#lowest)) return;
    this.#before();
    const params = { level, logger: "troupe", data };
    await this.#call.ctx.mcpReq.notify({ method: "notifications/message", params });
  }
}

/** The place of the lowest level that the client wants; beyond all of them where it wants none. */
async function lowestLevel({ request, ctx }: LoggedCall): Promise<number> {
  const envelope: Readonly<Record<string, unknown>> | undefined = ctx.mcpReq.envelope;
  const level = envelope ? envelope[LEVEL] : (await sessionSettings(request))?.level;
  const index = LEVELS.findIndex((one) => one === level);
  return index === -1 ? LEVELS.length : index;
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${beginningOf(text, LONGEST_TEXT - 1)}…`;
}
