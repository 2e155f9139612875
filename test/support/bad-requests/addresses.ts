import { type BadRequest, TEAM, RUNS, RUN } from "./row.ts";

/** Wrong addresses and methods. */
export const addresses: readonly BadRequest[] = [
  ...[
    "/v1",
    "/v2/teams",
    "/v1/team",
    "/v1/teams/team/nothing",
    "/v1/teams/team/runs/RUN/nothing",
    "/v1//teams",
    "/%00",
    "/healthz/x",
  ].map((path) => ({ name: `GET ${path}`, method: "GET", path, status: 404, code: "not_found" })),
  ...[
    "missing",
    "a.b",
    "a%20b",
    "%2e%2e%2fteam",
    "%ff",
    "%zz",
    "a%00b",
    "t%C3%A9am",
    "a".repeat(65),
    "*",
    "__proto__",
  ].map((id) => ({
    name: `the team ${id}`,
    method: "GET",
    path: `/v1/teams/${id}`,
    status: 404,
    code: "team_not_found",
  })),
  ...["PUT", "POST", "DELETE"].flatMap((method) =>
    ["/state", "/component", "/reset", "/runs"]
      .filter(
        (rest) =>
          !`${method}${rest}`.match(/PUT\/(state|component)|POST\/(reset|runs)/) && rest !== "",
      )
      .map((rest) => ({
        name: `${method} ${rest}`,
        method,
        path: TEAM + rest,
        status: 405,
        code: "method_not_allowed",
      })),
  ),
  {
    name: "a missing team is not made by asking",
    method: "DELETE",
    path: "/v1/teams/missing",
    status: 404,
    code: "team_not_found",
  },
  {
    name: "a run of a missing team",
    path: "/v1/teams/missing/runs",
    json: { task: "a" },
    status: 404,
    code: "team_not_found",
  },
  {
    name: "a missing run",
    method: "GET",
    path: `${RUNS}/missing`,
    status: 404,
    code: "run_not_found",
  },
  {
    name: "a run that is not an id",
    method: "GET",
    path: `${RUNS}/a.b`,
    status: 404,
    code: "run_not_found",
  },
  {
    name: "events of a missing run",
    method: "GET",
    path: `${RUNS}/missing/events`,
    status: 404,
    code: "run_not_found",
  },
  {
    name: "events of a missing team",
    method: "GET",
    path: "/v1/teams/missing/events",
    status: 404,
    code: "team_not_found",
  },
  {
    name: "a request that is not an id",
    path: `${RUN}/requests/a.b`,
    json: { content: "a" },
    status: 404,
    code: "request_not_found",
  },
  {
    name: "a missing request",
    path: `${RUN}/requests/missing`,
    json: { content: "a" },
    status: 404,
    code: "request_not_found",
  },
  {
    name: "POST to what can only be read",
    path: "/healthz",
    json: {},
    status: 405,
    code: "method_not_allowed",
    answers: { allow: "GET, HEAD, OPTIONS" },
  },
  {
    name: "PATCH a team",
    method: "PATCH",
    path: TEAM,
    json: {},
    status: 405,
    code: "method_not_allowed",
    answers: { allow: "GET, DELETE, HEAD, OPTIONS" },
  },
];
