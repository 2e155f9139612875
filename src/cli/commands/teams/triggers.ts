import { readFileSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { TRIGGER_KINDS } from "../../../contract/constants.ts";
import type {
  PutTrigger,
  TeamClient,
  TriggerDelivery,
  TriggerInfo,
} from "../../../client/index.ts";
import { CliError, EXIT } from "../../terminal/errors.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

interface TriggersOptions extends ConnectionOptions {
  kind?: PutTrigger["kind"];
  task?: string;
  filter?: string;
  onConflict?: NonNullable<PutTrigger["on_conflict"]>;
  user?: string;
  secretFile?: string;
  revoke?: boolean;
}

type Action = (team: TeamClient, id: string, options: TriggersOptions) => Promise<void>;

const ACTIONS: { readonly [name: string]: Action } = {
  list,
  put,
  show,
  deliveries,
  rotate,
  delete: remove,
};

export function triggersCommand(): Command {
  const command = new Command("triggers")
    .summary("list, create and delete the triggers of a team")
    .description(
      `Works with the triggers of a team: addresses at which events start runs.

  list              lists them: id, kind, address
  put ID            creates one, or replaces it: --kind and --task are needed
  show ID           prints one as JSON
  deliveries ID     lists what came in during the last seven days, newest first
  rotate ID         gives it another secret; the one before is valid for a day
  delete ID         deletes it`,
    )
    .argument("<team>", "id of the team")
    .addArgument(new Argument("[action]").choices(Object.keys(ACTIONS)).default("list"))
    .argument("[id]", "id of the trigger")
    .addOption(new Option("--kind <kind>", 'of "put": who sends').choices(TRIGGER_KINDS))
    .option("--task <text>", 'of "put": the task, with values of the event as {{ issue.title }}')
    .option(
      "--filter <json>",
      'of "put": conditions, as \'[{"argument":"action","equals":"opened"}]\'',
    )
    .addOption(
      new Option("--on-conflict <way>", 'of "put": while the team is busy').choices([
        "queue",
        "reject",
        "interrupt",
        "steer",
      ]),
    )
    .option("--user <user>", 'of "put": for whom its runs are')
    .option("--secret-file <file>", "the sender's secret; Stripe and Slack show theirs")
    .option("--revoke", 'of "rotate": the secret before ends now')
    .addHelpText(
      "after",
      '\nExample:\n  $ npx troupe triggers demo put issues --kind github --task "Triage {{ issue.title }}"\n  $ npx troupe triggers demo deliveries issues',
    )
    .action(
      async (team: string, name: string, id: string | undefined, options: TriggersOptions) => {
        const action = ACTIONS[name];
        if (action === undefined) throw new InvalidArgumentError(`Unknown action: ${name}.`);
        if (id === undefined && name !== "list")
          throw wrong(`"${name}" needs the id of a trigger.`);
        await connect(options, (client) => action(client.team(team), id ?? "", options));
      },
    );
  return withConnection(command);
}

function wrong(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "usage" });
}

/** All items of a list in pages. */
async function* paged<T>(
  read: (query: { limit: number; cursor?: string }) => Promise<{
    items: readonly T[];
    next_cursor: string | null;
  }>,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page = await read({ limit: 200, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

async function list(team: TeamClient, _: string, { json }: TriggersOptions): Promise<void> {
  const pages = paged<TriggerInfo>(async (query) => {
    const { triggers, next_cursor } = await team.triggers.list(query);
    return { items: triggers, next_cursor };
  });
  for await (const trigger of pages) {
    if (json) printJson(trigger);
    else printLine([trigger.id, trigger.kind, trigger.address].join("  "));
  }
}

async function put(team: TeamClient, id: string, options: TriggersOptions): Promise<void> {
  const { kind, task, filter, onConflict, user, secretFile, json } = options;
  if (kind === undefined || task === undefined) throw wrong('"put" needs --kind and --task.');
  const secret = secretFile === undefined ? undefined : secretIn(secretFile);
  const trigger = await team.triggers.put(id, {
    kind,
    task,
    ...(filter !== undefined && { filter: { when: conditionsIn(filter) } }),
    ...(onConflict && { on_conflict: onConflict }),
    ...(user !== undefined && { user }),
    ...(secret !== undefined && { secret }),
  });
  if (json) return printJson(trigger);
  printLine(trigger.address);
  if (trigger.secret !== undefined) printSecret(trigger.secret);
}

function printSecret(secret: string): void {
  printLine(`Secret: ${secret}`);
  printLine("It is not shown again.");
}

async function show(team: TeamClient, id: string, { json }: TriggersOptions): Promise<void> {
  const trigger = await team.triggers.get(id);
  if (json) printJson(trigger);
  else process.stdout.write(`${JSON.stringify(trigger, null, 2)}\n`);
}

async function deliveries(team: TeamClient, id: string, { json }: TriggersOptions): Promise<void> {
  const pages = paged<TriggerDelivery>(async (query) => {
    const page = await team.triggers.deliveries(id, query);
    return { items: page.deliveries, next_cursor: page.next_cursor };
  });
  for await (const delivery of pages) {
    const { at, status, run, reason } = delivery;
    if (json) printJson(delivery);
    else printLine([at, status, run ?? reason ?? "-", delivery.id].join("  "));
  }
}

async function rotate(team: TeamClient, id: string, options: TriggersOptions): Promise<void> {
  const { secretFile, revoke = false, json } = options;
  const secret = secretFile === undefined ? undefined : secretIn(secretFile);
  const rotated = await team.triggers.rotateSecret(id, {
    revoke_previous: revoke,
    ...(secret !== undefined && { secret }),
  });
  if (json) return printJson(rotated);
  const until = rotated.previous_secret_expires_at;
  if (rotated.secret !== undefined) printSecret(rotated.secret);
  printLine(
    until === null ? "The secret before has ended." : `The secret before ends at ${until}.`,
  );
}

async function remove(team: TeamClient, id: string, { json }: TriggersOptions): Promise<void> {
  await team.triggers.delete(id);
  if (json) printJson({ deleted: id });
  else printLine(`Deleted ${id}.`);
}

/** @throws CliError */
function secretIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    throw wrong(`The file "${file}" cannot be read.`);
  }
}

/** @throws CliError */
function conditionsIn(text: string): NonNullable<PutTrigger["filter"]>["when"] {
  try {
    // The server checks what it is.
    return JSON.parse(text) as NonNullable<PutTrigger["filter"]>["when"];
  } catch {
    throw wrong("--filter is not JSON: write a list of conditions.");
  }
}
