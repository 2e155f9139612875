import type { ActivityFrame } from "../../../../contract/stream/stream-frame.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import { ACTIVITY_TYPE, type AgUiEvent } from "../wire/events.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** The steps that are under way, as an activity message of the run. */
export class Activity {
  readonly #isShown: boolean;
  readonly #calls: ToolCalls;
  /** The message, once clients have it. */
  #messageId: string | undefined;
  #isBusy = false;

  constructor(isShown: boolean, calls: ToolCalls) {
    this.#isShown = isShown;
    this.#calls = calls;
  }

  change({ run_id, steps }: ActivityFrame): AgUiEvent[] {
    if (!this.#isShown) return [];
    return this.#show(
      `activity-${run_id}`,
      steps.map((step) => this.#shown(step)),
    );
  }

  /** Nothing happens any more in this stream. */
  end(): AgUiEvent[] {
    return this.#messageId === undefined || !this.#isBusy ? [] : this.#show(this.#messageId, []);
  }

  /** A snapshot of the messages may have left it out. */
  forget(): void {
    this.#messageId = undefined;
  }

  #show(messageId: string, steps: Json[]): AgUiEvent[] {
    const isNew = this.#messageId !== messageId;
    this.#messageId = messageId;
    this.#isBusy = steps.length > 0;
    const message = { messageId, activityType: ACTIVITY_TYPE };
    return isNew
      ? [{ type: "ACTIVITY_SNAPSHOT", ...message, content: { steps } }]
      : // "add" replaces what is there.
        [
          {
            type: "ACTIVITY_DELTA",
            ...message,
            patch: [{ op: "add", path: "/steps", value: steps }],
          },
        ];
  }

  #shown(step: ActivityFrame["steps"][number]): JsonObject {
    const { agent, kind, name, call_id, attempt, started_at, error, next_attempt_at } = step;
    const call = call_id === null ? undefined : this.#calls.idOf(call_id);
    return {
      kind,
      ...(agent !== null && { agent }),
      ...(name !== null && { name }),
      ...(call !== undefined && { tool_call_id: call }),
      attempt,
      started_at,
      ...(error !== null && { error }),
      ...(next_attempt_at !== null && { next_attempt_at }),
    };
  }
}
