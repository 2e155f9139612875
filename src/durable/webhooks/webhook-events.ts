import type { OutboxEntry } from "../../contract/directory.ts";
import type { RunStatus } from "../../contract/run.ts";
import type { WebhookEventType } from "../../contract/constants.ts";
import type { WebhookEvent } from "../../contract/webhook.ts";
import type { JsonObject } from "../../core/json.ts";

/** A run's status is told when it begins; that a run starts, pauses or goes on is told to nobody. */
const RUN_EVENTS: { readonly [Status in RunStatus]?: WebhookEventType } = {
  completed: "run.completed",
  failed: "run.failed",
  cancelled: "run.cancelled",
  waiting: "run.waiting",
};

/** What webhooks are told of the entries that a team delivers. */
export function webhookEvents(team_id: string, entries: readonly OutboxEntry[]): WebhookEvent[] {
  return entries.flatMap((entry) => {
    if ("earlier" in entry) return [];
    // An entry's number is the time it was written at, in microseconds.
    const timestamp = new Date(Math.floor(entry.number / 1000)).toISOString();
    switch (entry.kind) {
      case "run": {
        const { run, webhook } = entry;
        const type = RUN_EVENTS[run.status];
        if (type === undefined) return [];
        const data = { ...run, run_id: run.id } as JsonObject;
        return [{ type, team_id, run_id: run.id, timestamp, data, ...(webhook && { webhook }) }];
      }
      case "request": {
        const { request, webhook } = entry;
        const { run_id } = request;
        const data = request as unknown as JsonObject;
        const type = "request.created";
        return [{ type, team_id, run_id, timestamp, data, ...(webhook && { webhook }) }];
      }
      case "message": {
        const { run_id, message, webhook } = entry;
        const data = { ...message, team_id, run_id };
        return [{ type: "message", team_id, run_id, timestamp, data, ...(webhook && { webhook }) }];
      }
      default:
        return [];
    }
  });
}
