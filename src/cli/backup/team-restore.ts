import type { ReceiverInput } from "../../contract/notify.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { Json } from "../../core/json.ts";
import { ApiError, type NotedTeam } from "../../client/index.ts";
import type { RestoreContext } from "./kind.ts";
import { restoreMemories } from "./memory-kinds.ts";
import { restoreTasks } from "./restore-tasks.ts";
import { found, isRefusal, type Server } from "./server.ts";
import {
  type ArchivedTeam,
  type ArchivedVersion,
  componentPlace,
  openComponent,
  SECRET_OF_SENDER,
} from "./archived-team.ts";

/** Makes a team again. Parts that are refused are reported, and the others continue. */
export async function restoreTeam(
  server: Server,
  team: string,
  context: RestoreContext,
): Promise<void> {
  const { commands } = server;
  const archived = await context.json<ArchivedTeam>("team.json");
  await restoreVersions(server, archived, context);
  const { tool } = archived.team;
  const { tasks } = archived;
  const attempt = (what: string, write: () => Promise<unknown>): Promise<void> =>
    attempted(context, what, write);
  if (archived.state.length > 0) {
    await attempt("its conversation", () => restoreState(server, team, archived, context));
  }
  if (tasks !== null) {
    await attempt("its tasks", () => restoreTasks(commands, team, tasks, context));
  }
  await attempt("its memories", () => restoreMemories(server, { team }, context));
  for (const { path, name } of archived.files) {
    await attempt(`the file ${path}`, async () => {
      const content = await context.blob(name);
      await commands.send("PUT /v1/teams/:team/files/:path", { team, path }, { content });
    });
  }
  if (tool !== undefined) {
    const { updated_at: _, ...body } = tool;
    await attempt(`its tool ${tool.name}`, () =>
      commands.json("PUT /v1/teams/:team/tool", { team }, { body }),
    );
  }
  const notify = withSecrets(archived.notify, `team/${team}/notify`, context);
  if (notify.length > 0) {
    await attempt("its receivers", () =>
      commands.json("PUT /v1/teams/:team/notify", { team }, { body: { notify } }),
    );
  }
  await restoreSchedules(server, team, archived, context);
  await restoreTriggers(server, team, archived, context);
  if (archived.tokens > 0) {
    context.todo(`Team ${team} had ${archived.tokens} tokens or links: make them again.`);
  }
  if (archived.approvals > 0) {
    context.todo(
      `Team ${team} had ${archived.approvals} stored approvals: the next equal calls ask again.`,
    );
  }
}

/** Creates the team with the oldest version that can be used, and puts the others over it. @throws ApiError */
async function restoreVersions(
  server: Server,
  { team, versions }: ArchivedTeam,
  context: RestoreContext,
): Promise<void> {
  const { commands } = server;
  let isCreated = false;
  for (const version of versions) {
    const { component_version, label, note, current } = version;
    try {
      const component = await componentOf(server, team.id, version, context);
      const stored: NotedTeam = isCreated
        ? await commands.json(
            "PUT /v1/teams/:team/component",
            { team: team.id },
            {
              body: { component },
            },
          )
        : await createTeam(server, team, component, context);
      isCreated = true;
      if (label === null && note === null) continue;
      await commands.json(
        "PUT /v1/teams/:team/versions/:version",
        { team: team.id, version: stored.component_version },
        { body: { label, note } },
      );
    } catch (error) {
      if (current || !isRefusedPart(error) || error.status === 409) throw error;
      context.refused(`its version ${component_version}`, error);
    }
  }
}

async function createTeam(
  { commands }: Server,
  { id, label, metadata, user }: NotedTeam,
  component: ComponentModel,
  context: RestoreContext,
): Promise<NotedTeam> {
  const body = {
    id,
    component: component as object,
    label,
    metadata,
    ...(user !== null && { user }),
  };
  const create = (): Promise<NotedTeam> =>
    commands.json(
      "POST /v1/teams",
      {},
      {
        body,
        idempotencyKey: context.idempotencyKey(JSON.stringify(body)),
      },
    );
  if (context.resumed) {
    // An earlier attempt has made it, as the key shows, and may have stored a part of the rest.
    if (!context.overwrite) await create();
    await found(commands.json("DELETE /v1/teams/:team", { team: id }));
  }
  return create();
}

async function componentOf(
  { secretsKey }: Server,
  team: string,
  { component_version, component, sealed }: ArchivedVersion,
  { secrets, todo }: RestoreContext,
): Promise<ComponentModel> {
  if (sealed !== undefined && secretsKey !== undefined) return openComponent(sealed, secretsKey);
  const { value, missing } = secrets.fill(componentPlace(team, component_version), component);
  for (const one of missing) todo(`A component needs its secret: ${one}`);
  return value;
}

async function restoreState(
  { commands }: Server,
  team: string,
  { state }: ArchivedTeam,
  context: RestoreContext,
): Promise<void> {
  let id = "";
  for (const [index, name] of state.entries()) {
    const content = await context.blob(name);
    const { state: staged } = await commands.json(
      "PUT /v1/teams/:team/state/parts/:part",
      { team, part: index + 1 },
      { content, headers: { "content-type": "application/x-ndjson" } },
    );
    id = staged ?? "";
  }
  await commands.json("POST /v1/teams/:team/state/commit", { team }, { body: { state: id } });
}

async function restoreSchedules(
  { commands }: Server,
  team: string,
  { schedules }: ArchivedTeam,
  context: RestoreContext,
): Promise<void> {
  for (const schedule of schedules) {
    const { id, cron, timezone, at, next_at, notify, user } = schedule;
    // A single time that is over starts nothing any more.
    if (at !== null && next_at === null) continue;
    const { task, output_task_messages, on_conflict, timeout_seconds, max_total_tokens } = schedule;
    const { max_cost, metadata, enabled } = schedule;
    const options = { task, output_task_messages, on_conflict, timeout_seconds, max_total_tokens };
    const receivers = withSecrets(notify, `team/${team}/schedules/${id}/notify`, context);
    const body = {
      ...withoutNulls({ ...options, max_cost, metadata, user }),
      enabled,
      id,
      ...(at === null ? { cron: cron ?? "", timezone: timezone ?? "UTC" } : { at }),
      ...(receivers.length > 0 && { notify: receivers }),
    };
    await attempted(context, `the schedule ${id}`, () =>
      commands.json(
        "POST /v1/teams/:team/schedules",
        { team },
        {
          body,
          idempotencyKey: context.idempotencyKey(`schedule ${id}`),
        },
      ),
    );
  }
}

async function restoreTriggers(
  { commands }: Server,
  team: string,
  { triggers }: ArchivedTeam,
  context: RestoreContext,
): Promise<void> {
  for (const { id, kind, task, on_conflict, filter, user, notify = [] } of triggers) {
    const place = `team/${team}/triggers/${id}`;
    const secret = context.secrets.valueAt(`${place}.secret`);
    const body = {
      kind,
      task,
      on_conflict,
      filter,
      user,
      notify: withSecrets(notify, `${place}.notify`, context),
      ...(secret !== undefined && { secret }),
    };
    if (SECRET_OF_SENDER.includes(kind) && secret === undefined) {
      context.todo(`Team ${team}: the trigger ${id} needs the secret of ${kind}: ${place}.secret.`);
      continue;
    }
    await attempted(context, `the trigger ${id}`, async () => {
      const put = await commands.json(
        "PUT /v1/teams/:team/triggers/:trigger",
        { team, trigger: id },
        { body },
      );
      const renewed =
        put.secret === undefined ? "" : " and a new secret, which rotate_secret shows once more";
      context.todo(`Team ${team}: the trigger ${id} has the address ${put.address}${renewed}.`);
    });
  }
}

/** Receivers whose secrets are known. */
function withSecrets<T extends { kind: string }>(
  receivers: readonly T[],
  place: string,
  { secrets, todo }: RestoreContext,
): ReceiverInput[] {
  const { value, missing } = secrets.fill(place, receivers as unknown as Json);
  const filled = value as unknown as ReceiverInput[];
  return filled.filter((_, index) => {
    const lacks = missing.filter((one) => one.startsWith(`${place}[${index}]`));
    for (const one of lacks) todo(`A receiver of messages needs its secret: ${one}`);
    return lacks.length === 0;
  });
}

function withoutNulls<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null),
  ) as Partial<T>;
}

/** Reports a refusal of one part, so that the others are restored. @throws the error of a server that is not well */
async function attempted(
  context: RestoreContext,
  part: string,
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isRefusedPart(error)) throw error;
    context.refused(part, error);
  }
}

function isRefusedPart(error: unknown): error is ApiError {
  if (error instanceof ApiError && error.code === "sandbox_not_configured") return true;
  return isRefusal(error) && error.status < 500;
}
