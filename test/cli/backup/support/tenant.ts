import { sha256Hex } from "#core/hash.ts";
import { conversation, HUMAN, speaker } from "../../support/teams.ts";
import { BOARD_COMPONENT } from "../../../support/sample-component.ts";
import { KillableWorker, type KillableWorkerOptions } from "../../../support/killable-worker.ts";

export const OPERATOR = "operator-key-of-the-tests";
export const SECRETS_KEY = btoa("k".repeat(32));

/** A Worker with keys, whose operator acts in the tenant `acme`. */
export class TenantServer implements AsyncDisposable {
  readonly worker: KillableWorker;

  private constructor(worker: KillableWorker) {
    this.worker = worker;
  }

  static async start(
    settings: Record<string, string> = {},
    options: KillableWorkerOptions = {},
  ): Promise<TenantServer> {
    const worker = await KillableWorker.start(
      {
        TROUPE_OPEN: "",
        SECRETS_KEY,
        OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
        TENANT_REQUESTS_PER_SECOND: "100000",
        ...settings,
      },
      options,
    );
    return new TenantServer(worker);
  }

  /** The environment of `troupe` for this server. */
  get env(): Record<string, string> {
    return {
      TROUPE_URL: this.worker.origin,
      TROUPE_API_KEY: OPERATOR,
      TROUPE_TENANT: "acme",
    };
  }

  request(method: string, path: string, body?: unknown): Promise<Response> {
    const isRaw = body instanceof Uint8Array;
    return this.worker.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${OPERATOR}`,
        "troupe-tenant": "acme",
        ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: isRaw ? Buffer.from(body) : JSON.stringify(body) }),
    });
  }

  /** The answer to a call. @throws Error for a refusal */
  async json<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<T> {
    const response = await this.request(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text === "" ? "null" : text) as T;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.worker[Symbol.asyncDispose]();
  }
}

function skillText(text: string): object {
  return {
    files: { "SKILL.md": `---\nname: refunds\ndescription: About refunds.\n---\n${text}\n` },
  };
}

/** A team whose model has a key of its own. */
export function keyed(client: object): object {
  return {
    provider: "AssistantAgent",
    config: { name: "writer", model_client: client },
  };
}

/**
 * Gives the tenant one of each kind: in order what its table of contents calls them.
 *
 * @param client a model client with a key
 */
export async function fillTenant(server: TenantServer, client: object): Promise<void> {
  const put = (path: string, body: unknown): Promise<unknown> => server.json("PUT", path, body);
  const post = (path: string, body: unknown): Promise<unknown> => server.json("POST", path, body);
  await put("/v1/tenants/acme", { label: "Acme", limits: { runs_per_minute: 77 } });
  await put("/v1/skills/refunds", skillText("Refund up to 50 euros."));
  await put("/v1/skills/refunds", skillText("Refund up to 70 euros."));
  await put("/v1/collections/handbook", { description: "How we work.", language: "en" });
  await put("/v1/collections/handbook/documents/guide", {
    title: "Guide",
    mime_type: "text/markdown",
    content: "# Hours\n\nWe open at nine.\n\n# Rooms\n\nThe red room is quiet.\n",
    metadata: { year: 2026 },
  });
  await post("/v1/memories", { user: "Ada Lovelace/1", content: "Likes tea.", metadata: { n: 1 } });
  await post("/v1/memories", { user: "Ada Lovelace/1", content: { drink: "no coffee" } });
  await post("/v1/memories", { scope: "tenant", content: "The office is in Berlin." });

  await post("/v1/teams", {
    id: "Talk",
    label: "Talk",
    component: speaker(["One.", "Two."]),
    user: "ada",
    metadata: { desk: 1 },
  });
  await post("/v1/teams/Talk/runs?wait=60", { task: "Say one." });
  await put("/v1/teams/Talk/component", { component: speaker(["Three.", "Four."]) });
  await put("/v1/teams/Talk/versions/1", { label: "first", note: "As it began." });
  await post("/v1/teams/Talk/runs?wait=60", { task: "Say more." });
  await post("/v1/memories", { team: "Talk", content: "Was said once." });
  await post("/v1/teams/Talk/schedules", {
    id: "daily",
    cron: "0 8 * * *",
    timezone: "Europe/Berlin",
    task: "Hello.",
    enabled: false,
  });
  await post("/v1/teams/Talk/schedules", {
    id: "later",
    at: "2037-01-01T00:00:00Z",
    task: "Later.",
    metadata: { a: 1 },
  });
  await put("/v1/teams/Talk/triggers/issues", { kind: "github", task: "Triage {{ title }}." });
  await put("/v1/teams/Talk/triggers/paid", {
    kind: "stripe",
    secret: "whsec_of_stripe",
    task: "Thank them.",
  });
  await put("/v1/teams/Talk/notify", {
    notify: [
      { kind: "slack", url: "https://hooks.slack.com/services/T/B/secret" },
      { kind: "webhook", url: "https://hooks.example.com/notes", on: ["run.failed"] },
    ],
  });
  await put("/v1/teams/Talk/tool", {
    name: "ask_talk",
    description: "Asks.",
    input_schema: { type: "object", properties: { q: { type: "string" } } },
    task: "{{ q }}",
  });
  await post("/v1/teams/Talk/tokens", { scopes: ["conversation:read"], expires_in: 3600 });

  await post("/v1/teams", { id: "board", component: BOARD_COMPONENT });
  const flour = { title: "Buy flour", note: "Two kilos." };
  const { id } = await server.json<{ id: string }>("POST", "/v1/teams/board/tasks", flour);
  await post("/v1/teams/board/runs?wait=60", { task: "Cook." });
  await post("/v1/teams/board/tasks", { title: "Wash up", depends_on: [id] });
  await server.json("PATCH", `/v1/teams/board/tasks/${id}`, { state: "done" });

  await post("/v1/teams", { id: "waiting", component: conversation(["Hello.", "Good."]) });
  await post("/v1/teams", { id: "human", component: HUMAN });
  await post("/v1/teams", { id: "keyed", component: keyed(client) });

  await put("/v1/webhooks/hook", {
    url: "https://hooks.example.com/",
    events: ["run.completed"],
    description: "Ours.",
  });
  await post("/v1/keys", { name: "my app", scopes: ["teams:read", "runs:write"] });
}

/** Fields that belong to a server and not to what is stored there. */
const VOLATILE: ReadonlySet<string> = new Set(
  `created_at updated_at seq turn turns usage cost active_run status last_run by last_used_at stored_bytes today active_runs next_after
   next_before source embedding_tokens address next_at last_at states component_version current hash`
    .trim()
    .split(/\s+/),
);

/** Everything of the tenant that its lists show, without what belongs to the server. */
export async function shownTenant(server: TenantServer): Promise<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  const show = async (path: string): Promise<void> => {
    const response = await server.request("GET", path);
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "";
    shown[path] = type.includes("json") ? stable(JSON.parse(text)) : text;
  };
  for (const path of [
    "/v1/tenants/acme",
    "/v1/skills",
    "/v1/skills/refunds?version=1",
    "/v1/skills/refunds?version=2",
    "/v1/skills/refunds/files/SKILL.md?version=1",
    "/v1/collections",
    "/v1/collections/handbook/documents",
    "/v1/collections/handbook/documents/guide/chunks",
    "/v1/memories/users",
    "/v1/memories?user=Ada%20Lovelace%2F1",
    "/v1/memories?scope=tenant",
    "/v1/webhooks",
  ])
    await show(path);
  const { teams } = await server.json<{ teams: { id: string }[] }>("GET", "/v1/teams?limit=200");
  for (const { id } of teams.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const parts = [
      "",
      "/versions",
      "/messages",
      "/tasks",
      "/schedules",
      "/triggers",
      "/notify",
      "/tool",
      "/state",
    ];
    for (const part of parts) await show(`/v1/teams/${id}${part}`);
    await show(`/v1/memories?team=${id}`);
  }
  return shown;
}

function stable(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(stable);
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(json).filter(([name]) => !VOLATILE.has(name));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === "id" && isMade(value) ? "made" : stable(value)]),
  );
}

/** Ids that a server makes: of memories and receivers. */
function isMade(id: unknown): boolean {
  return typeof id === "string" && /^(team|user|tenant)\..|^[\w-]{16,}$/.test(id);
}
