import { ApiError, type FileInfo, type ListedTeam } from "../../client/index.ts";
import { REDACTED } from "../../secrets/redacted-secrets.ts";
import type { ItemWriter } from "./archive.ts";
import {
  type ArchivedTeam,
  type ArchivedVersion,
  componentPlace,
  lackedSecrets,
  openComponent,
  requireInside,
  SECRET_OF_SENDER,
} from "./archived-team.ts";
import type { Kind } from "./kind.ts";
import { archiveMemories } from "./memory-kinds.ts";
import type { SecretsFile } from "./secrets-file.ts";
import { allOf, found, listed, type Server } from "./server.ts";
import { restoreTeam } from "./team-restore.ts";

/** Teams with what belongs to them. Teams that erase themselves and the conversations of A2A callers are left out. */
export const teamKind: Kind = {
  name: "team",

  async *ids({ commands }) {
    const teams = listed(
      // A team that becomes active while the pages are read moves to the end, where it is seen again.
      (query) => commands.json("GET /v1/teams", {}, { query: { ...query, order: "oldest" } }),
      (page): readonly ListedTeam[] => page.teams,
    );
    for await (const { id, expires_in } of teams) if (expires_in === null) yield id;
  },

  async read(server, team, item, secrets) {
    // The component may be replaced while the parts are read, and the state would be that of another one.
    for (let version: number | undefined; ;) {
      const read = await readTeam(server, team, item, secrets);
      const now = await server.commands.json("GET /v1/teams/:team", { team });
      version = now.component_version;
      if (version === read.team.component_version) return item.json("team.json", read);
    }
  },

  exists: async ({ commands }, team) =>
    (await found(commands.json("GET /v1/teams/:team", { team }))) !== undefined,

  async remove({ commands }, team) {
    await commands.json("DELETE /v1/teams/:team", { team });
  },

  check: async ({ secretsKey }, { json, secrets }) =>
    lackedSecrets(await json<ArchivedTeam>("team.json"), secrets, secretsKey),

  write: restoreTeam,
};

async function readTeam(
  server: Server,
  team: string,
  item: ItemWriter,
  secrets: SecretsFile,
): Promise<ArchivedTeam> {
  const { commands } = server;
  const info = await commands.json("GET /v1/teams/:team", { team });
  const versions = await versionsOf(server, team);
  for (const { component_version, component, sealed } of versions) {
    if (sealed === undefined) await secrets.add(componentPlace(team, component_version), component);
  }
  const notify = (await commands.json("GET /v1/teams/:team/notify", { team })).notify;
  await secrets.add(`team/${team}/notify`, notify);
  const schedules = await allOf(
    listed(
      (query) => commands.json("GET /v1/teams/:team/schedules", { team }, { query }),
      (page) => page.schedules,
    ),
  );
  for (const { id, notify: receivers } of schedules) {
    await secrets.add(`team/${team}/schedules/${id}/notify`, receivers);
  }
  const triggers = await allOf(
    listed(
      (query) => commands.json("GET /v1/teams/:team/triggers", { team }, { query }),
      (page) => page.triggers,
    ),
  );
  for (const { id, kind, notify: receivers = [] } of triggers) {
    await secrets.add(`team/${team}/triggers/${id}`, {
      notify: receivers,
      ...(SECRET_OF_SENDER.includes(kind) && { secret: REDACTED }),
    });
  }
  const board = await unless("no_task_board", commands.json("GET /v1/teams/:team/tasks", { team }));
  await archiveMemories(server, { team }, item);
  const tokens = listed(
    (query) => commands.json("GET /v1/teams/:team/tokens", { team }, { query }),
    (page) => page.tokens,
  );
  const approvals = listed(
    (query) => commands.json("GET /v1/teams/:team/approvals", { team }, { query }),
    (page) => page.approvals,
  );
  return {
    team: info,
    versions,
    schedules: schedules.toReversed(),
    triggers,
    notify,
    tasks: board?.tasks ?? null,
    state: info.turn === 0 ? [] : await archiveState(server, team, item),
    files: await archiveFiles(server, team, item),
    tokens: (await allOf(tokens)).length,
    approvals: (await allOf(approvals)).length,
  };
}

async function versionsOf(
  { commands, tenant, secretsKey }: Server,
  team: string,
): Promise<ArchivedVersion[]> {
  const versions = await allOf(
    listed(
      (query) => commands.json("GET /v1/teams/:team/versions", { team }, { query }),
      (page) => page.versions,
    ),
  );
  const archived: ArchivedVersion[] = [];
  for (const { component_version: version } of versions.toReversed()) {
    const names = { team, version };
    const shown = await commands.json("GET /v1/teams/:team/versions/:version", names);
    if (secretsKey === undefined) {
      archived.push(shown);
      continue;
    }
    const { component: sealed } = await commands.json(
      "GET /v1/tenants/:tenant/teams/:team/versions/:version",
      { ...names, tenant },
    );
    await openComponent(sealed, secretsKey);
    archived.push({ ...shown, sealed });
  }
  return archived;
}

async function archiveState(
  { commands }: Server,
  team: string,
  item: ItemWriter,
): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const part = names.length + 1;
    const query = cursor === undefined ? {} : { part, cursor };
    const response = await commands.send("GET /v1/teams/:team/state/parts", { team }, { query });
    const text = await response.text();
    const last = text.slice(text.lastIndexOf("\n", text.length - 2) + 1);
    const name = `state-${part}.ndjson`;
    await item.body(name, new Response(text));
    names.push(name);
    cursor = (JSON.parse(last) as { next_cursor: string | null }).next_cursor;
  }
  return names;
}

/** The files of the workspace, if there is a sandbox, without those that a run has removed since they were listed. */
async function archiveFiles(
  { commands }: Server,
  team: string,
  item: ItemWriter,
): Promise<ArchivedTeam["files"]> {
  const files = allOf(
    listed(
      (query) => commands.json("GET /v1/teams/:team/files", { team }, { query }),
      (page): readonly FileInfo[] => page.files,
    ),
  );
  const archived: ArchivedTeam["files"] = [];
  for (const { path } of (await unless("sandbox_not_configured", files)) ?? []) {
    requireInside(team, path);
    const file = await found(commands.send("GET /v1/teams/:team/files/:path", { team, path }));
    if (file === undefined) continue;
    const name = `file-${archived.length + 1}`;
    await item.body(name, file);
    archived.push({ path, name });
  }
  return archived;
}

/** The answer to a request; undefined for a refusal with this code. */
async function unless<T>(code: string, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return undefined;
    throw error;
  }
}
