import type { TaskOnBoard } from "../../client/index.ts";
import type { CommandSender } from "../../client/http/commands.ts";
import type { RestoreContext } from "./kind.ts";

/**
 * Makes the board as it was. The restored state has the tasks that turns have read; those that people have added or changed since then are
 * added and changed here.
 */
export async function restoreTasks(
  commands: CommandSender,
  team: string,
  archived: readonly TaskOnBoard[],
  context: RestoreContext,
): Promise<void> {
  const { tasks: present } = await commands.json("GET /v1/teams/:team/tasks", { team });
  const ids = new Map(archived.map(({ id }) => [id, id]));
  for (const { id } of present) {
    if (!ids.has(id)) await commands.json("DELETE /v1/teams/:team/tasks/:task", { team, task: id });
  }
  const known = new Set(present.map(({ id }) => id));
  for (const { id, title } of archived) {
    if (known.has(id)) continue;
    const added = await commands.json(
      "POST /v1/teams/:team/tasks",
      { team },
      { body: { title }, idempotencyKey: context.idempotencyKey(`task ${id}`) },
    );
    ids.set(id, added.id);
  }
  for (const { id, title, note, owner, state, depends_on, position } of archived) {
    const wanted = {
      title,
      note,
      owner,
      state,
      depends_on: depends_on.map((one) => ids.get(one) ?? one),
      position,
    };
    const before = present.find((one) => one.id === id);
    const changes = Object.fromEntries(
      Object.entries(wanted).filter(
        ([name, value]) =>
          JSON.stringify(value) !== JSON.stringify(before?.[name as keyof typeof wanted]),
      ),
    );
    if (Object.keys(changes).length === 0) continue;
    await commands.json(
      "PATCH /v1/teams/:team/tasks/:task",
      { team, task: ids.get(id) ?? id },
      { body: changes },
    );
  }
}
