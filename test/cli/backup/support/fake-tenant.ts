import type { Server } from "#cli/backup/server.ts";
import { CommandSender } from "#client/http/commands.ts";
import { Transport } from "#client/http/transport.ts";
import type { ComponentModel } from "#core/component/component-model.ts";
import { REDACTED } from "#secrets/redacted-secrets.ts";
import { SealedSecrets } from "#secrets/sealed-secrets.ts";

interface FakeTeam {
  /** Oldest first. */
  versions: ComponentModel[];
  /** Parts such as `notify`, as they are shown. */
  parts: Record<string, object>;
  /** The `Idempotency-Key` of the request that has made it. */
  key?: string | null;
}

interface Refusal {
  status: number;
  code?: string;
}

/** The empty lists of a tenant and of a team. */
const LISTS = "skills collections users memories teams webhooks keys connections";
const PARTS = "notify schedules triggers tokens approvals files";

/** A server in memory with the calls that backups and restores of teams make. */
export class FakeTenant {
  readonly teams = new Map<string, FakeTeam>();
  /** Refusals by request, such as `GET /v1/teams/desk/notify`. */
  readonly refusals = new Map<string, Refusal>();
  /** Called before the answer to a request. What it throws breaks the connection. */
  before: (request: string) => void = () => {};
  readonly requests: string[] = [];
  readonly memories: { content: string }[] = [];
  /** The sizes of requests that have added memories, in bytes. */
  readonly memoryBodies: number[] = [];

  server(options: Partial<Pick<Server, "kind" | "secretsKey">> = {}): Server {
    const transport = new Transport({
      baseURL: "http://tenant.test",
      maxRetries: 0,
      fetch: (request) => this.#answer(request),
    });
    const commands = new CommandSender(transport, {});
    return { url: "http://tenant.test", commands, tenant: "acme", kind: "created", ...options };
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const name = `${request.method} ${decodeURIComponent(pathname)}`;
    this.requests.push(name);
    this.before(name);
    const refusal = this.refusals.get(name);
    if (refusal !== undefined) return refused(refusal);
    const text = await request.text();
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (name === "POST /v1/teams")
      return this.#create(body, request.headers.get("idempotency-key"));
    if (name === "POST /v1/memories") this.memoryBodies.push(Buffer.byteLength(text));
    if (name.endsWith(" /v1/memories")) {
      return Response.json({ memories: this.memories, next_cursor: null });
    }
    return (await this.#teamAnswer(request.method, pathname, body)) ?? this.#list(name);
  }

  #list(name: string): Response {
    const list = name.split("/").at(-1) ?? "";
    if (name === "GET /v1/teams") {
      return Response.json({
        teams: [...this.teams.keys()].map((id) => ({ id, expires_in: null })),
        next_cursor: null,
      });
    }
    const known = name.startsWith("GET /v1/teams/") ? PARTS : LISTS;
    if (name.startsWith("GET") && known.split(" ").includes(list)) {
      return Response.json({ [list]: [], next_cursor: null });
    }
    return refused({ status: 404 });
  }

  #create(body: Record<string, unknown>, key: string | null): Response {
    const id = String(body["id"]);
    const known = this.teams.get(id);
    if (known === undefined) {
      this.teams.set(id, { versions: [body["component"] as ComponentModel], parts: {}, key });
    } else if (known.key !== key) return refused({ status: 409, code: "team_exists" });
    return Response.json(this.#shown(id));
  }

  async #teamAnswer(
    method: string,
    pathname: string,
    body: Record<string, unknown>,
  ): Promise<Response | undefined> {
    const [, id = "", part = ""] =
      /^\/v1\/(?:tenants\/\w+\/)?teams\/([^/]+)\/?(.*)$/.exec(pathname) ?? [];
    if (id === "") return undefined;
    const team = this.teams.get(id);
    if (team === undefined) return refused({ status: 404, code: "team_not_found" });
    if (method === "DELETE") {
      this.teams.delete(id);
      return new Response(null, { status: 204 });
    }
    if (part === "") return Response.json(this.#shown(id));
    if (method === "PUT" && part === "component") {
      team.versions.push(body["component"] as ComponentModel);
      return Response.json(this.#shown(id));
    }
    if (method === "PUT") {
      team.parts[part] = body;
      return Response.json(body);
    }
    if (Object.hasOwn(team.parts, part)) return Response.json(team.parts[part]);
    return this.#version(team, part, pathname.startsWith("/v1/tenants/"));
  }

  async #version(
    { versions }: FakeTeam,
    part: string,
    isSealed: boolean,
  ): Promise<Response | undefined> {
    const shown = versions.map((component, index) => ({
      component_version: index + 1,
      component: redacted(component),
      label: null,
      note: null,
      current: index === versions.length - 1,
    }));
    if (part === "versions")
      return Response.json({ versions: shown.toReversed(), next_cursor: null });
    const index = Number(/^versions\/(\d+)$/.exec(part)?.[1]) - 1;
    const [version, component] = [shown[index], versions[index]];
    if (version === undefined || component === undefined) {
      return part === "tasks" ? refused({ status: 404, code: "no_task_board" }) : undefined;
    }
    if (!isSealed) return Response.json(version);
    const sealed = await new SealedSecrets(FAKE_SECRETS_KEY).seal(component, null);
    return Response.json({ ...version, component: sealed });
  }

  #shown(id: string): object {
    const version = this.teams.get(id)?.versions.length ?? 0;
    return { id, label: null, metadata: {}, user: null, turn: 0, component_version: version };
  }
}

export const FAKE_SECRETS_KEY = btoa("f".repeat(32));

/** An agent whose model has a key. */
export function withKey(key: string): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name: "writer",
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "m", api_key: key },
      },
    },
  };
}

/** The place of its key in a backup. */
export function keyPlace(team: string, version: number): string {
  return `team/${team}/versions/${version}/component.config.model_client.config.api_key`;
}

/** The key that a restored version has. */
export function keyOfVersion(component: ComponentModel | undefined): unknown {
  return /"api_key":"([^"]*)"/.exec(JSON.stringify(component))?.[1];
}

function redacted(component: ComponentModel): unknown {
  return JSON.parse(
    JSON.stringify(component, (name, value: unknown) => (name === "api_key" ? REDACTED : value)),
  );
}

function refused({ status, code = "not_found" }: Refusal): Response {
  const problem = { type: "about:blank", title: code, status, code, detail: `Refused: ${code}.` };
  return Response.json(problem, { status });
}
