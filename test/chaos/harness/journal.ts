import { completionFor } from "../../support/fake-openai/completion.ts";
import { parseChatRequest } from "../../support/fake-openai/chat-request.ts";
import type { RecordedRequest } from "../../support/fake-openai/request-log.ts";
import type { Effect } from "./effects-server.ts";

/** A step whose result was durable at a time. */
interface Recorded {
  key: string;
  result: string;
  /** The time of the harness's clock, in epoch milliseconds. */
  at: number;
}

/** Which steps were recorded when: a step with a recorded result must never be sent to the outside world again. */
export class StepJournal {
  readonly #recorded: Recorded[] = [];

  add(key: string, result: string): void {
    this.#recorded.push({ key, result, at: Date.now() });
  }

  /** Requests to the model that were made though the reply to the same request had been recorded before. */
  repeatedRequests(requests: readonly RecordedRequest[]): string[] {
    const recordedAt = new Map<string, number>();
    for (const { result, at } of this.#recorded) {
      for (const [, digest] of result.matchAll(/(?:Reply |call_)([0-9a-f]{8})/g)) {
        const name = digest ?? "";
        recordedAt.set(name, Math.min(at, recordedAt.get(name) ?? at));
      }
    }
    return requests
      .map((request) => ({ request, digest: digestOf(request) }))
      .filter(({ request, digest }) => request.received_at > (recordedAt.get(digest) ?? Infinity))
      .map(({ digest }) => `the model was asked again for the recorded reply ${digest}`);
  }

  /** Effects that were asked for again though the step they belong to had been recorded in between. */
  repeatedEffects(effects: readonly Effect[]): string[] {
    return effects
      .filter((effect) =>
        effects.some(
          (earlier) => earlier.key === effect.key && this.#recordedBetween(earlier, effect),
        ),
      )
      .map(({ name, key }) => `the effect ${name} was made again though ${key} was recorded`);
  }

  /** Effects carry the run and turn before the step's key, which is the same in every turn. */
  #recordedBetween(earlier: Effect, later: Effect): boolean {
    return this.#recorded.some(
      ({ key, at }) => earlier.key.endsWith(`/${key}`) && earlier.at <= at && at < later.at,
    );
  }
}

/** Identifies the fake model's reply to this request. */
export function digestOf({ body }: RecordedRequest): string {
  const request = parseChatRequest(body);
  if ("problem" in request) return "refused";
  return completionFor(request, undefined).id.slice("chatcmpl-".length);
}
