export interface BadRequest {
  name: string;
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** JSON, unless `raw` is given. */
  json?: unknown;
  raw?: string | Uint8Array<ArrayBuffer>;
  status: number;
  code: string;
  /** Paths that `errors` must name. */
  errors?: string[];
  /** Response headers. */
  answers?: Record<string, string>;
}

export const JSON_TYPE = { "content-type": "application/json" };
export const TEAMS = "/v1/teams";
export const TEAM = "/v1/teams/team";
export const RUNS = "/v1/teams/team/runs";
export const RUN = "/v1/teams/team/runs/RUN";
export const VALIDATE = "/v1/components/validate";

/** The request of a row; `RUN` in its path stands for the id of a run. */
export function toInit(row: BadRequest): RequestInit {
  const body = row.raw ?? (row.json === undefined ? undefined : JSON.stringify(row.json));
  const method = row.method ?? "POST";
  const takesBody = method !== "GET" && body !== undefined;
  return {
    method,
    headers: row.headers ?? (takesBody ? JSON_TYPE : {}),
    ...(takesBody && { body }),
  };
}
