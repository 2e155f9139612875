import { type BadRequest, TEAM } from "./row.ts";

const SCHEDULES = `${TEAM}/schedules`;
const cron = "0 8 * * *";

/** Schedules that cannot be made or found. */
export const schedules: readonly BadRequest[] = [
  ...Object.entries({
    "neither cron nor at": [{ task: "a" }, "cron"],
    "both cron and at": [{ cron, at: "2099-01-01T00:00:00Z" }, "at"],
    "a time zone without cron": [{ at: "2099-01-01T00:00:00Z", timezone: "UTC" }, "timezone"],
    "six fields": [{ cron: "0 0 8 * * *" }, "cron"],
    "four fields": [{ cron: "0 8 * *" }, "cron"],
    "a time as cron": [{ cron: "2099-01-01T00:00:00" }, "cron"],
    "an empty cron": [{ cron: "" }, "cron"],
    "a cron that is null": [{ cron: null }, "cron"],
    "a long cron": [{ cron: `${"0,".repeat(100)}0 8 * * *` }, "cron"],
    "an unknown time zone": [{ cron, timezone: "Mars/Olympus" }, "timezone"],
    "an empty time zone": [{ cron, timezone: "" }, "timezone"],
    "a time without offset": [{ at: "2099-01-01T00:00:00" }, "at"],
    "a day that does not exist": [{ at: "2099-02-30T00:00:00Z" }, "at"],
    "a time that is a number": [{ at: 4_070_908_800 }, "at"],
    "enabled as text": [{ cron, enabled: "yes" }, "enabled"],
    "an unknown on_conflict": [{ cron, on_conflict: "replace" }, "on_conflict"],
    "an unknown field": [{ cron, every: 5 }, "every"],
    "a webhook": [{ cron, webhook: { url: "https://example.com" } }, "webhook"],
    "metadata of its own": [{ cron, metadata: { schedule_id: "x" } }, "metadata.schedule_id"],
    "large metadata": [{ cron, metadata: { text: "a".repeat(17_000) } }, "metadata"],
    "an id with a slash": [{ cron, id: "a/b" }, "id"],
  } as Record<string, [unknown, string]>).map(([name, [json, path]]) => ({
    name: `a schedule with ${name}`,
    path: SCHEDULES,
    json,
    status: 422,
    code: "invalid_request",
    errors: [path],
  })),
  {
    name: "a schedule with an unknown kind of task",
    path: SCHEDULES,
    json: { cron, task: { type: "TextMesage", source: "user", content: "a" } },
    status: 422,
    code: "invalid_task",
    errors: ["task.type"],
  },
  ...Object.entries({
    "both cron and at": [{ cron, at: "2099-01-01T00:00:00Z" }, "at"],
    "another id": [{ id: "other" }, "id"],
    "no cron": [{ cron: null }, "cron"],
    "no time to run": [{ timeout_seconds: 0 }, "timeout_seconds"],
    "metadata of its own": [{ metadata: { scheduled_for: "x" } }, "metadata.scheduled_for"],
  } as Record<string, [unknown, string]>).map(([name, [json, path]]) => ({
    name: `a change of a schedule to ${name}`,
    method: "PATCH",
    path: `${SCHEDULES}/missing`,
    json,
    status: 422,
    code: "invalid_request",
    errors: [path],
  })),
  ...(
    [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/run_now"],
    ] as const
  ).flatMap(([method, rest]) =>
    ["missing", "a.b"].map((id) => ({
      name: `${method} of the schedule ${id}${rest}`,
      method,
      path: `${SCHEDULES}/${id}${rest}`,
      ...((method === "PATCH" || method === "POST") && { json: {} }),
      status: 404,
      code: "schedule_not_found",
    })),
  ),
  {
    name: "a schedule of a missing team",
    path: "/v1/teams/missing/schedules",
    json: { cron },
    status: 404,
    code: "team_not_found",
  },
  {
    name: "an unknown cursor of schedules",
    method: "GET",
    path: `${SCHEDULES}?cursor=%20`,
    status: 422,
    code: "invalid_query",
    errors: ["cursor"],
  },
  {
    name: "PUT a schedule",
    method: "PUT",
    path: `${SCHEDULES}/missing`,
    json: {},
    status: 405,
    code: "method_not_allowed",
    answers: { allow: "GET, PATCH, DELETE, HEAD, OPTIONS" },
  },
];
