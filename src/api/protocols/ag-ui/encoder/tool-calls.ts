import type { RunInfo } from "../../../../contract/run.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { type AgUiEvent, OWN } from "../wire/events.ts";
import type { Continued } from "../wire/options.ts";
import { aboutResult, aboutSource, resultId, toolCallId } from "../wire/event-fields.ts";
import type { Ids } from "./ids.ts";

type Item<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

/** Encodes tool calls and their results, except for results that the client itself has given. */
export class ToolCalls {
  readonly #ids: Ids;
  /** The ids of calls without results, by those that the models gave them. */
  readonly #calls: Map<string, string>;
  /** Those that the client makes. */
  readonly #clientCalls: Set<string>;

  constructor(ids: Ids, continued: Pick<Continued, "calls" | "clientCalls"> | undefined) {
    this.#ids = ids;
    this.#calls = new Map(Object.entries(continued?.calls ?? {}));
    this.#clientCalls = new Set(continued?.clientCalls);
  }

  /** Clients know the calls by these ids now. @param calls those without results */
  renamed(calls: Readonly<Record<string, string>>): void {
    this.#calls.clear();
    for (const [call, id] of Object.entries(calls)) this.#calls.set(call, id);
  }

  /** The id of a call without a result. @param call as its model gave it */
  idOf(call: string | undefined): string | undefined {
    return call === undefined ? undefined : this.#calls.get(call);
  }

  /** Takes note of the calls that the client is asked to make. */
  asked({ requests }: RunInfo): void {
    for (const { kind, tool_call } of requests) {
      const call = tool_call?.call_id;
      if (kind === "tool" && call !== undefined) {
        this.#clientCalls.add(this.#calls.get(call) ?? call);
      }
    }
  }

  /** @param thought the message that the calls are of, where their agent has thought aloud */
  made({ id, source, calls }: Item<"tool_calls">, thought: string | undefined): AgUiEvent[] {
    const own = this.#ids.next(id);
    const parentMessageId = thought ?? own;
    return calls.flatMap((call): AgUiEvent[] => {
      const toolCall = this.#ids.next(toolCallId(own, call.id));
      this.#calls.set(call.id, toolCall);
      return [
        {
          type: "TOOL_CALL_START",
          toolCallId: toolCall,
          toolCallName: call.name,
          parentMessageId,
          ...aboutSource(source),
        },
        { type: "TOOL_CALL_ARGS", toolCallId: toolCall, delta: call.arguments },
        { type: "TOOL_CALL_END", toolCallId: toolCall },
      ];
    });
  }

  results({ id, results }: Item<"tool_results">): AgUiEvent[] {
    return results.flatMap((result, index): AgUiEvent[] => {
      const call = this.#calls.get(result.call_id) ?? result.call_id;
      this.#calls.delete(result.call_id);
      if (this.#clientCalls.has(call)) return [];
      return [
        {
          type: "TOOL_CALL_RESULT",
          messageId: this.#ids.next(resultId(id, index)),
          toolCallId: call,
          content: result.content,
          role: "tool",
          ...aboutResult(result),
        },
      ];
    });
  }

  /** Calls of turns that were given up: without results, clients would take them for their own. */
  unanswered(): AgUiEvent[] {
    return [...this.#calls.values()]
      .filter((call) => !this.#clientCalls.has(call))
      .map((call) => ({
        type: "TOOL_CALL_RESULT",
        messageId: this.#ids.next(`${call}:void`),
        toolCallId: call,
        content: "",
        role: "tool",
        metadata: { [OWN]: { void: true } },
      }));
  }
}
