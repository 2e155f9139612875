import { SCOPES } from "#contract/constants.ts";
import type { Scope } from "#contract/constants.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";

/** Who may call an endpoint, and what an allowed call is answered with. */
export interface Access {
  /** The scopes, one of which is enough; `any` credential, the `operator` only, or no credential at all. */
  needs: readonly Scope[] | "any" | "operator" | "nobody";
  /** Whether a token of the team in the path is enough, with the scope; of `any`, where the handler looks at the team. */
  teamToken?: true | "any";
  /**
   * Status of an allowed call about a team, a finished run of it and a schedule. In the paths, {key} is a created key,
   * {webhook} a webhook and {tenant} a tenant of its own; any other parameter names nothing, unless `newPlace` makes it.
   */
  status: number;
  /** Its query, where one is required. */
  query?: string;
  /** Its body, which is valid. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Content type of refusals, where they have the shape of another protocol. */
  refusals?: string;
  /** Status of what is invalid, where it is not 422. */
  invalid?: number;
  /** In another tenant it creates what the path names. */
  creates?: true;
  /** In another tenant it makes what the path names, with this status. */
  makes?: number;
  /** What it answers credentials of another tenant, where that is not 404. */
  elsewhere?: number;
}

const EMPTY_AGENT = {
  type: "ChatAgentContainerState",
  agent_state: { type: "AssistantAgentState", llm_context: { messages: [] } },
  message_buffer: [],
};

/** The paths of a team that has done nothing. */
const EMPTY_STATE = {
  type: "TeamState",
  agent_states: {
    writer: EMPTY_AGENT,
    critic: EMPTY_AGENT,
    RoundRobinGroupChatManager: {
      type: "RoundRobinManagerState",
      next_speaker_index: 0,
      message_thread: [],
      current_turn: 0,
    },
  },
};

export const WEBHOOK = { url: "https://hooks.example.com/", events: ["run.completed"] };

/** A trigger of a kind whose secret is made. */
export const TRIGGER = { kind: "github", task: "Triage {{ issue.title }}." };

const OPENAI = { refusals: "application/json", invalid: 400 };

const HELLO_A2A = { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "Hello." }] } };

const A2A_REST = {
  headers: { "a2a-version": "1.0" },
  refusals: "application/json",
  invalid: 400,
};

/** Written by hand, so that a change of an endpoint's scope is a change here. One row for every operation. */
export const ACCESS: Readonly<Record<string, Access>> = {
  "POST /v1/teams": {
    needs: ["teams:write"],
    status: 201,
    body: { component: SAMPLE_COMPONENT },
  },
  "GET /v1/teams/{team}": { needs: ["teams:read"], teamToken: true, status: 200 },
  "DELETE /v1/teams/{team}": { needs: ["teams:write"], status: 204 },
  "PUT /v1/teams/{team}/component": {
    needs: ["teams:write"],
    status: 200,
    body: { component: SAMPLE_COMPONENT },
  },
  "POST /v1/teams/{team}/reset": { needs: ["teams:write"], status: 200 },
  "GET /v1/teams/{team}/state": { needs: ["teams:read"], teamToken: true, status: 200 },
  "PUT /v1/teams/{team}/state": {
    needs: ["teams:write"],
    status: 204,
    body: EMPTY_STATE,
  },
  "GET /v1/teams/{team}/state/parts": { needs: ["teams:read"], teamToken: true, status: 200 },
  "PUT /v1/teams/{team}/state/parts/{part}": { needs: ["teams:write"], status: 404 },
  "GET /v1/teams/{team}/state/staged": { needs: ["teams:write"], status: 200 },
  "DELETE /v1/teams/{team}/state/staged": { needs: ["teams:write"], status: 204 },
  "POST /v1/teams/{team}/state/commit": {
    needs: ["teams:write"],
    status: 409,
    body: { state: "0".repeat(32) },
  },
  "POST /v1/teams/{team}/fork": { needs: ["teams:write"], status: 201 },
  "GET /v1/teams/{team}/versions": { needs: ["teams:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/versions/{version}": {
    needs: ["teams:read"],
    teamToken: true,
    status: 404,
  },
  "PUT /v1/teams/{team}/versions/{version}": {
    needs: ["teams:write"],
    status: 404,
    body: { label: "released" },
  },
  "POST /v1/teams/{team}/versions/{version}/restore": { needs: ["teams:write"], status: 404 },
  "GET /v1/teams/{team}/messages": { needs: ["teams:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/conversation": {
    needs: ["teams:read", "conversation:read"],
    teamToken: true,
    status: 200,
  },
  "GET /v1/teams/{team}/conversation/events": {
    needs: ["teams:read", "conversation:read"],
    teamToken: true,
    status: 200,
  },
  "GET /v1/teams/{team}/turns": { needs: ["teams:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/messages/search": {
    needs: ["teams:read"],
    teamToken: true,
    status: 200,
    query: "?q=hello",
  },
  "GET /v1/teams/{team}/events": { needs: ["runs:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/files": {
    needs: ["teams:read", "files:read"],
    teamToken: true,
    status: 200,
  },
  "GET /v1/teams/{team}/files/{path}": {
    needs: ["teams:read", "files:read"],
    teamToken: true,
    status: 200,
  },
  "PUT /v1/teams/{team}/files/{path}": { needs: ["runs:write"], teamToken: true, status: 204 },
  "DELETE /v1/teams/{team}/files/{path}": { needs: ["runs:write"], teamToken: true, status: 204 },
  "POST /v1/teams/{team}/tokens": {
    // It needs teams:write, and the scopes that the token is to have: no single one is enough.
    needs: [],
    status: 201,
    body: { scopes: ["teams:read"], expires_in: 60 },
  },
  "GET /v1/teams/{team}/tokens": { needs: ["teams:write"], status: 200 },
  "DELETE /v1/teams/{team}/tokens": { needs: ["keys:write"], status: 204 },
  "DELETE /v1/teams/{team}/tokens/{token}": { needs: ["keys:write"], status: 204 },
  "POST /v1/teams/{team}/runs": {
    needs: ["runs:write"],
    teamToken: true,
    status: 202,
    body: { task: "Hello.", on_conflict: "interrupt" },
  },
  "GET /v1/teams/{team}/runs": { needs: ["runs:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/runs/{run}": { needs: ["runs:read"], teamToken: true, status: 200 },
  "PATCH /v1/teams/{team}/runs/{run}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 409,
    body: { task: "Hello." },
  },
  "GET /v1/teams/{team}/runs/{run}/trace": { needs: ["runs:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/runs/{run}/steps/{step}/request": {
    needs: ["teams:read"],
    teamToken: true,
    status: 404,
  },
  "GET /v1/teams/{team}/runs/{run}/events": { needs: ["runs:read"], teamToken: true, status: 200 },
  "POST /v1/teams/{team}/runs/{run}/stop": {
    needs: ["runs:write"],
    teamToken: true,
    status: 409,
    body: { mode: "now" },
  },
  "POST /v1/teams/{team}/runs/{run}/messages": {
    needs: ["runs:write"],
    teamToken: true,
    body: { content: "Shorter, please." },
    status: 409,
  },
  "POST /v1/teams/{team}/runs/{run}/pause": {
    needs: ["runs:write"],
    teamToken: true,
    status: 409,
  },
  "POST /v1/teams/{team}/runs/{run}/resume": {
    needs: ["runs:write"],
    teamToken: true,
    status: 409,
  },
  "POST /v1/teams/{team}/runs/{run}/retry": {
    needs: ["runs:write"],
    teamToken: true,
    status: 409,
  },
  "GET /v1/teams/{team}/runs/{run}/requests": {
    needs: ["runs:read", "runs:write", "requests:write"],
    teamToken: true,
    status: 200,
  },
  "GET /v1/teams/{team}/runs/{run}/requests/{request}": {
    needs: ["runs:read", "runs:write", "requests:write"],
    teamToken: true,
    status: 404,
  },
  "POST /v1/teams/{team}/runs/{run}/requests/{request}": {
    needs: ["requests:write", "runs:write"],
    teamToken: true,
    status: 409,
    body: { content: "Yes." },
  },
  "GET /v1/teams/{team}/runs/{run}/decisions": {
    needs: ["runs:read"],
    teamToken: true,
    status: 200,
  },
  "GET /v1/teams/{team}/approvals": { needs: ["teams:read"], teamToken: true, status: 200 },
  "DELETE /v1/teams/{team}/approvals/{approval}": { needs: ["teams:write"], status: 404 },
  "GET /v1/collections": { needs: ["teams:read"], status: 200 },
  "PUT /v1/collections/{collection}": {
    needs: ["teams:write"],
    status: 200,
    body: { description: "Of the matrix." },
    creates: true,
  },
  "GET /v1/collections/{collection}": { needs: ["teams:read"], status: 200 },
  "DELETE /v1/collections/{collection}": { needs: ["teams:write"], status: 204 },
  "POST /v1/collections/{collection}/embed": { needs: ["teams:write"], status: 409 },
  "POST /v1/collections/{collection}/search": {
    needs: ["teams:read"],
    status: 200,
    body: { q: "hello" },
  },
  "GET /v1/collections/{collection}/documents": { needs: ["teams:read"], status: 200 },
  "PUT /v1/collections/{collection}/documents/{document}": {
    needs: ["teams:write"],
    status: 202,
    body: { mime_type: "text/plain", content: "Hello." },
    makes: 202,
  },
  "GET /v1/collections/{collection}/documents/{document}": {
    needs: ["teams:read"],
    status: 200,
  },
  "GET /v1/collections/{collection}/documents/{document}/chunks": {
    needs: ["teams:read"],
    status: 200,
  },
  "DELETE /v1/collections/{collection}/documents/{document}": {
    needs: ["teams:write"],
    status: 204,
  },
  "GET /v1/memories": { needs: ["teams:read"], teamToken: "any", status: 422 },
  "GET /v1/memories/users": { needs: ["teams:read"], status: 200 },
  "POST /v1/memories": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 422,
    body: { content: "It has no scope." },
  },
  "DELETE /v1/memories": { needs: ["runs:write"], teamToken: "any", status: 422 },
  "PATCH /v1/memories/{memory}": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 404,
    body: { content: "Corrected." },
  },
  "DELETE /v1/memories/{memory}": { needs: ["runs:write"], teamToken: "any", status: 404 },
  "POST /v1/teams/{team}/schedules": {
    needs: ["runs:write"],
    teamToken: true,
    status: 201,
    body: { cron: "0 8 * * *", task: "Hello." },
  },
  "GET /v1/teams/{team}/schedules": { needs: ["runs:read"], teamToken: true, status: 200 },
  "GET /v1/teams/{team}/schedules/{schedule}": {
    needs: ["runs:read"],
    teamToken: true,
    status: 200,
  },
  "PATCH /v1/teams/{team}/schedules/{schedule}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 200,
    body: { enabled: false },
  },
  "DELETE /v1/teams/{team}/schedules/{schedule}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 204,
  },
  "POST /v1/teams/{team}/schedules/{schedule}/run_now": {
    needs: ["runs:write"],
    teamToken: true,
    status: 202,
  },
  "GET /v1/teams/{team}/tasks": { needs: ["runs:read"], teamToken: true, status: 200 },
  "POST /v1/teams/{team}/tasks": {
    needs: ["runs:write"],
    teamToken: true,
    status: 201,
    body: { title: "Buy food" },
  },
  "PATCH /v1/teams/{team}/tasks/{task}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 200,
    body: { title: "Cook" },
  },
  "DELETE /v1/teams/{team}/tasks/{task}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 204,
  },
  "GET /v1/teams": { needs: ["teams:read"], status: 200 },
  "GET /v1/runs": { needs: ["runs:read"], status: 200 },
  "GET /v1/runs/failures": { needs: ["runs:read"], status: 200 },
  "GET /v1/messages/search": { needs: ["teams:read"], status: 200, query: "?q=hello" },
  "GET /v1/requests": { needs: ["runs:read", "runs:write", "requests:write"], status: 200 },
  // With teams:read it sends teams, with runs:read too what changes of runs and requests; otherwise requests alone.
  "GET /v1/events": { needs: ["teams:read", "runs:write", "requests:write"], status: 200 },
  "GET /v1/usage": { needs: ["usage:read"], status: 200 },
  "GET /v1/teams/{team}/triggers": { needs: ["teams:read"], teamToken: true, status: 200 },
  "PUT /v1/teams/{team}/triggers/{trigger}": {
    needs: ["teams:write"],
    status: 200,
    body: TRIGGER,
  },
  "GET /v1/teams/{team}/triggers/{trigger}": {
    needs: ["teams:read"],
    teamToken: true,
    status: 200,
  },
  "DELETE /v1/teams/{team}/triggers/{trigger}": { needs: ["teams:write"], status: 204 },
  "POST /v1/teams/{team}/triggers/{trigger}/rotate_secret": {
    needs: ["teams:write"],
    status: 200,
  },
  "GET /v1/teams/{team}/triggers/{trigger}/deliveries": {
    needs: ["teams:read"],
    teamToken: true,
    status: 200,
  },
  // No credential opens a door: only the trigger's own secret does, which these requests do not have.
  "POST /in/{tenant}/{team}/{trigger}": {
    needs: "nobody",
    teamToken: true,
    status: 401,
    elsewhere: 401,
  },
  "GET /v1/webhooks": { needs: ["teams:read"], status: 200 },
  "PUT /v1/webhooks/{webhook}": {
    needs: ["teams:write"],
    status: 200,
    body: WEBHOOK,
    creates: true,
  },
  "GET /v1/webhooks/{webhook}": { needs: ["teams:read"], status: 200 },
  "DELETE /v1/webhooks/{webhook}": { needs: ["teams:write"], status: 204 },
  "GET /v1/webhooks/default/secret": { needs: ["teams:write"], status: 200 },
  "POST /v1/webhooks/{webhook}/rotate_secret": { needs: ["teams:write"], status: 200 },
  "GET /v1/webhooks/{webhook}/deliveries": { needs: ["teams:read"], status: 200 },
  "POST /v1/webhooks/{webhook}/deliveries/{delivery}/retry": {
    needs: ["teams:write"],
    status: 404,
  },
  "POST /v1/webhooks/{webhook}/test": { needs: ["teams:write"], status: 200 },
  "GET /v1/teams/{team}/notify": { needs: ["teams:read"], teamToken: true, status: 200 },
  "PUT /v1/teams/{team}/notify": {
    needs: ["teams:write"],
    status: 200,
    body: { notify: [{ kind: "slack", url: "https://hooks.slack.com/services/T0/B0/abc" }] },
  },
  "PUT /v1/teams/{team}/tool": {
    needs: ["teams:write"],
    status: 409,
    body: {
      name: "run_other",
      description: "Other.",
      input_schema: { type: "object" },
      task: "Go.",
    },
  },
  "GET /v1/teams/{team}/tool": { needs: ["teams:read"], teamToken: true, status: 404 },
  "DELETE /v1/teams/{team}/tool": { needs: ["teams:write"], status: 404 },
  // A link that this deployment has not made, whose own right is tested in test/api/http/answer-links.test.ts.
  "GET /v1/answer": {
    needs: "nobody",
    teamToken: true,
    status: 404,
    query: "?ticket=none",
    refusals: "text/html; charset=utf-8",
  },
  "POST /v1/answer": {
    needs: "nobody",
    teamToken: true,
    status: 404,
    query: "?ticket=none",
    refusals: "text/html; charset=utf-8",
  },
  "GET /v1/skills": { needs: ["teams:read"], status: 200 },
  "PUT /v1/skills/{skill}": {
    needs: ["teams:write"],
    // The name in SKILL.md is not that of the path.
    status: 422,
    makes: 422,
    body: { files: { "SKILL.md": "---\nname: other\ndescription: Of the matrix.\n---\n" } },
  },
  "GET /v1/skills/{skill}": { needs: ["teams:read"], status: 200 },
  "GET /v1/skills/{skill}/versions": { needs: ["teams:read"], status: 200 },
  "GET /v1/skills/{skill}/files/{path}": { needs: ["teams:read"], status: 404 },
  "DELETE /v1/skills/{skill}": { needs: ["teams:write"], status: 204 },
  "GET /v1/connections": { needs: ["teams:read"], status: 200 },
  "POST /v1/connections": {
    needs: ["teams:write"],
    // Requests to it are not allowed.
    status: 422,
    body: { server: "https://mcp.example.com/mcp" },
  },
  "DELETE /v1/connections/{connection}": { needs: ["teams:write"], status: 404 },
  "GET /v1/connections/callback": {
    needs: "nobody",
    teamToken: true,
    status: 404,
    refusals: "text/html; charset=utf-8",
  },
  "GET /v1/connections/callback/{issuer}": {
    needs: "nobody",
    teamToken: true,
    status: 404,
    refusals: "text/html; charset=utf-8",
  },
  "GET /v1/connections/login": {
    needs: "nobody",
    teamToken: true,
    status: 404,
    query: "?ticket=acme.none",
    refusals: "text/html; charset=utf-8",
  },
  "POST /v1/connections/login": {
    needs: "nobody",
    teamToken: true,
    status: 404,
    query: "?ticket=acme.none",
    refusals: "text/html; charset=utf-8",
  },
  "GET /v1/connections/client.json": { needs: "nobody", teamToken: true, status: 200 },
  "GET /v1/connections/client/{document}": { needs: "nobody", teamToken: true, status: 404 },
  "GET /v1/whoami": { needs: "any", teamToken: true, status: 200 },
  "POST /v1/keys": { needs: ["keys:write"], status: 201, body: { name: "made" } },
  "GET /v1/keys": { needs: ["keys:write"], status: 200 },
  "DELETE /v1/keys/{key}": { needs: ["keys:write"], status: 204 },
  "GET /v1/tenants": { needs: "operator", status: 200 },
  "PUT /v1/tenants/{tenant}": { needs: "operator", status: 200, body: { label: "Acme" } },
  "GET /v1/tenants/{tenant}": { needs: "operator", status: 200 },
  // workerd alone has no history to return to.
  "POST /v1/tenants/{tenant}/restore": {
    needs: "operator",
    status: 503,
    body: { team: "demo", time: new Date(Date.now() - 3_600_000).toISOString() },
  },
  "GET /v1/tenants/{tenant}/teams/{team}/versions/{version}": {
    needs: "operator",
    status: 404,
    elsewhere: 403,
  },
  "DELETE /v1/tenants/{tenant}": { needs: "operator", status: 202 },
  "POST /ag-ui/teams/{team}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 200,
    body: { threadId: "1", runId: "1", messages: [] },
    refusals: "application/json",
  },
  "POST /ai-sdk/teams/{team}/chat": {
    needs: ["runs:write"],
    teamToken: true,
    status: 200,
    body: {
      id: "chat",
      messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Hello." }] }],
    },
    refusals: "text/plain; charset=utf-8",
  },
  "POST /ai-sdk/teams/{team}/chat/{chat}/stop": {
    needs: ["runs:write"],
    teamToken: true,
    status: 204,
    refusals: "text/plain; charset=utf-8",
  },
  "GET /ai-sdk/teams/{team}/chat/{chat}/stream": {
    needs: ["runs:read"],
    teamToken: true,
    status: 204,
    refusals: "text/plain; charset=utf-8",
  },
  "GET /ai-sdk/teams/{team}/chat/{chat}/messages": {
    needs: ["runs:read"],
    teamToken: true,
    status: 200,
    refusals: "text/plain; charset=utf-8",
  },
  // What else a message needs is in test/api/protocols/mcp/access.test.ts.
  "POST /mcp": {
    needs: ["teams:read"],
    status: 200,
    body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  },
  // Without a session there is no stream.
  "GET /mcp": { needs: [...SCOPES], status: 405 },
  "GET /mcp/teams/{team}": { needs: [...SCOPES], teamToken: true, status: 405 },
  "POST /mcp/teams/{team}": {
    needs: ["teams:read"],
    teamToken: true,
    status: 200,
    body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  },
  // What else a request needs is in test/api/protocols/openai/access.test.ts.
  "GET /openai/v1/models": { needs: ["teams:read"], teamToken: "any", status: 200, ...OPENAI },
  "GET /openai/v1/models/{model}": {
    needs: ["teams:read"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  "POST /openai/v1/chat/completions": {
    needs: ["runs:write"],
    status: 404,
    body: { model: "team:none", messages: [{ role: "user", content: "Hello." }] },
    ...OPENAI,
  },
  "POST /openai/v1/responses": {
    needs: ["runs:write"],
    status: 404,
    body: { model: "team:none", input: "Hello." },
    ...OPENAI,
  },
  "GET /openai/v1/responses": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 426,
    ...OPENAI,
  },
  "POST /openai/v1/responses/input_tokens": {
    needs: ["teams:read"],
    body: { model: "team:none", input: "?" },
    status: 404,
    ...OPENAI,
  },
  "POST /openai/v1/responses/compact": {
    needs: ["runs:read"],
    body: { model: "team:none", input: "?" },
    status: 404,
    ...OPENAI,
  },
  "POST /openai/v1/conversations": { needs: ["teams:write"], body: {}, status: 200, ...OPENAI },
  "GET /openai/v1/conversations/{conversation}": { needs: ["runs:read"], status: 404, ...OPENAI },
  "POST /openai/v1/conversations/{conversation}": {
    needs: ["runs:write"],
    body: {},
    status: 404,
    ...OPENAI,
  },
  "DELETE /openai/v1/conversations/{conversation}": {
    needs: ["teams:write"],
    status: 404,
    ...OPENAI,
  },
  "GET /openai/v1/conversations/{conversation}/items": {
    needs: ["runs:read"],
    status: 404,
    ...OPENAI,
  },
  "POST /openai/v1/conversations/{conversation}/items": {
    needs: ["runs:write"],
    body: { items: [] },
    status: 404,
    ...OPENAI,
  },
  "GET /openai/v1/conversations/{conversation}/items/{item}": {
    needs: ["runs:read"],
    status: 404,
    ...OPENAI,
  },
  "DELETE /openai/v1/conversations/{conversation}/items/{item}": {
    needs: ["runs:write"],
    status: 404,
    ...OPENAI,
  },
  "GET /openai/v1/files": { needs: ["runs:write"], teamToken: "any", status: 200, ...OPENAI },
  "POST /openai/v1/files": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 415,
    body: {},
    ...OPENAI,
  },
  "GET /openai/v1/files/{file}": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  "GET /openai/v1/files/{file}/content": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  "DELETE /openai/v1/files/{file}": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  "GET /openai/v1/responses/{response}": {
    needs: ["runs:read"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  "POST /openai/v1/responses/{response}/cancel": {
    needs: ["runs:write"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  "DELETE /openai/v1/responses/{response}": { needs: ["teams:write"], status: 404, ...OPENAI },
  "GET /openai/v1/responses/{response}/input_items": {
    needs: ["runs:read"],
    teamToken: "any",
    status: 404,
    ...OPENAI,
  },
  // What other methods need is in test/api/protocols/a2a/access.test.ts.
  "POST /a2a/teams/{team}": {
    needs: ["runs:read"],
    teamToken: true,
    status: 200,
    body: { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} },
    headers: { "a2a-version": "1.0" },
    refusals: "application/json",
  },
  "POST /a2a/teams/{team}/message:send": {
    needs: ["runs:write"],
    teamToken: true,
    status: 200,
    body: HELLO_A2A,
    ...A2A_REST,
  },
  "POST /a2a/teams/{team}/message:stream": {
    needs: ["runs:write"],
    teamToken: true,
    status: 200,
    body: HELLO_A2A,
    ...A2A_REST,
  },
  "GET /a2a/teams/{team}/tasks": {
    needs: ["runs:read"],
    teamToken: true,
    status: 200,
    ...A2A_REST,
  },
  "GET /a2a/teams/{team}/tasks/{task}": {
    needs: ["runs:read"],
    teamToken: true,
    status: 404,
    ...A2A_REST,
  },
  "POST /a2a/teams/{team}/tasks/{task}": {
    needs: ["runs:read"],
    teamToken: true,
    status: 404,
    ...A2A_REST,
  },
  "POST /a2a/teams/{team}/tasks/{task}/pushNotificationConfigs": {
    needs: ["runs:write"],
    teamToken: true,
    status: 404,
    body: { url: "https://hooks.example.com/" },
    ...A2A_REST,
  },
  "GET /a2a/teams/{team}/tasks/{task}/pushNotificationConfigs": {
    needs: ["runs:read"],
    teamToken: true,
    status: 404,
    ...A2A_REST,
  },
  "GET /a2a/teams/{team}/tasks/{task}/pushNotificationConfigs/{config}": {
    needs: ["runs:read"],
    teamToken: true,
    status: 404,
    ...A2A_REST,
  },
  "DELETE /a2a/teams/{team}/tasks/{task}/pushNotificationConfigs/{config}": {
    needs: ["runs:write"],
    teamToken: true,
    status: 404,
    ...A2A_REST,
  },
  "GET /a2a/teams/{team}/extendedAgentCard": {
    needs: ["teams:read"],
    teamToken: true,
    status: 400,
    ...A2A_REST,
  },
  "GET /a2a/teams/{team}/.well-known/agent-card.json": {
    needs: ["teams:read"],
    teamToken: true,
    status: 200,
  },
  "GET /.well-known/oauth-protected-resource": { needs: "nobody", teamToken: true, status: 200 },
  // The path of a file is not a resource.
  "GET /.well-known/oauth-protected-resource/{path}": {
    needs: "nobody",
    teamToken: true,
    status: 404,
  },
  "GET /healthz": { needs: "nobody", teamToken: true, status: 200 },
  "GET /v1/templates": { needs: ["teams:read"], status: 200 },
  "GET /v1/components": { needs: ["teams:read"], status: 200 },
  "POST /v1/components/validate": {
    needs: ["teams:read"],
    status: 200,
    body: { component: SAMPLE_COMPONENT },
  },
  "GET /v1/openapi.json": { needs: ["teams:read"], status: 200 },
};
