import type { ListedRun, OutboxEntry, RunPush } from "../../contract/directory.ts";
import type { RunChange } from "../../contract/stream/run-change.ts";
import type { RunStatus } from "../../contract/run.ts";
import type { WebhookEventType } from "../../contract/constants.ts";
import type { WebhookEvent } from "../../contract/webhook.ts";
import type { JsonObject } from "../../core/json.ts";

/** Changes to these statuses send an event. Starting, pausing and resuming send none. */
const RUN_EVENTS: { readonly [Status in RunStatus]?: WebhookEventType } = {
  completed: "run.completed",
  failed: "run.failed",
  cancelled: "run.cancelled",
  waiting: "run.waiting",
};

/** The events that an entry of a team sends to webhooks. */
export function webhookEvents(team_id: string, entry: OutboxEntry): WebhookEvent[] {
  if ("earlier" in entry) return [];
  // An entry's number is the time it was written at, in microseconds.
  const timestamp = new Date(Math.floor(entry.number / 1000)).toISOString();
  switch (entry.kind) {
    case "run": {
      const { run, push } = entry;
      const type = RUN_EVENTS[run.status];
      if (type === undefined) return [];
      const data = { ...run, run_id: run.id } as JsonObject;
      return [
        {
          type,
          team_id,
          run_id: run.id,
          timestamp,
          data,
          ...ofRun(entry),
          ...(push && { push: pushOf(run, push) }),
        },
      ];
    }
    case "request": {
      const { request } = entry;
      const { run_id } = request;
      const data = { ...request } as JsonObject;
      const type = "request.created";
      return [{ type, team_id, run_id, timestamp, data, ...ofRun(entry) }];
    }
    case "message": {
      const { run_id, message } = entry;
      const data = { ...message, team_id, run_id };
      return [{ type: "message", team_id, run_id, timestamp, data, ...ofRun(entry) }];
    }
    default:
      return [];
  }
}

function pushOf(
  run: ListedRun,
  { configs, requests, answer, context }: RunPush,
): NonNullable<WebhookEvent["push"]> {
  const change = {
    run,
    requests: [...requests],
    answer,
    ...(context !== undefined && { context }),
  } satisfies RunChange;
  return { configs, change: { ...change } };
}

type Origin = Pick<WebhookEvent, "webhook" | "notify" | "trace" | "hops">;

/** The fields that every entry about a run may have. */
function ofRun({ webhook, notify, trace, hops }: Origin): Origin {
  return {
    ...(webhook && { webhook }),
    ...(notify && { notify }),
    ...(trace && { trace }),
    ...(hops !== undefined && { hops }),
  };
}
