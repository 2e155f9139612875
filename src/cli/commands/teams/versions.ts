import { Argument, Command, InvalidArgumentError } from "commander";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { TeamClient, TeamVersion } from "../../../client/index.ts";
import { CliError, EXIT } from "../../terminal/errors.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

interface VersionsOptions extends ConnectionOptions {
  note?: string;
}

interface Action {
  /** The arguments after it. */
  takes: readonly string[];
  run: (team: TeamClient, given: readonly string[], options: VersionsOptions) => Promise<void>;
}

const ACTIONS: { readonly [name: string]: Action } = {
  list: { takes: [], run: list },
  show: { takes: ["version"], run: show },
  diff: { takes: ["version", "version"], run: printDifference },
  label: { takes: ["version", "name"], run: label },
  restore: { takes: ["version"], run: restore },
};

export function versionsCommand(): Command {
  const command = new Command("versions")
    .summary("list, compare, label and restore the versions of a team")
    .description(
      `Works with the versions of a team: each change of its component makes one.

  list              lists them, newest first: version, time, who made it, label, note
  show VERSION      prints its component JSON, without secrets
  diff A B          prints what differs from version A in version B
  label VERSION NAME
                    gives it a label, which no other version then has; "" removes it
  restore VERSION   makes its component the team's again, as a new version`,
    )
    .argument("<team>", "id of the team")
    .addArgument(new Argument("[action]").choices(Object.keys(ACTIONS)).default("list"))
    .argument("[values...]", "as the action takes them")
    .option("--note <text>", 'of "label": a note on the version; "" removes it')
    .addHelpText(
      "after",
      '\nExample:\n  $ npx troupe versions demo diff 3 4\n  $ npx troupe versions demo label 3 released --note "Before the new prompt"',
    )
    .action(
      async (id: string, name: string, values: readonly string[], options: VersionsOptions) => {
        const action = ACTIONS[name];
        if (action === undefined) throw new InvalidArgumentError(`Unknown action: ${name}.`);
        check(name, action, values, options);
        await connect(options, (client) => action.run(client.team(id), values, options));
      },
    );
  return withConnection(command);
}

/** @throws CliError */
function check(
  name: string,
  { takes }: Action,
  values: readonly string[],
  { note }: VersionsOptions,
): void {
  const wrong = (message: string): CliError =>
    new CliError(message, { exitCode: EXIT.usage, code: "usage" });
  if (values.length !== takes.length) {
    const usage = ["troupe versions TEAM", name, ...takes.map((one) => one.toUpperCase())];
    throw wrong(`"${name}" is used as: ${usage.join(" ")}`);
  }
  for (const [index, value] of values.entries()) {
    if (takes[index] === "version" && !/^[1-9]\d*$/.test(value)) {
      throw wrong(`"${value}" is not the number of a version: "list" shows them.`);
    }
  }
  if (note !== undefined && name !== "label") throw wrong(`--note belongs to "label".`);
}

async function list(team: TeamClient, _: unknown, { json }: VersionsOptions): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await team.versions.list({ limit: 200, ...(cursor !== undefined && { cursor }) });
    for (const version of page.versions) {
      if (json) printJson(version);
      else printLine(lineOf(version));
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

function lineOf({
  component_version,
  created_at,
  by,
  label: name,
  note,
  current,
}: TeamVersion): string {
  const mark = `${current ? "*" : " "} ${component_version}`;
  return [mark, created_at, by ?? "-", name ?? "-", note?.replaceAll(/\s+/g, " ") ?? ""]
    .join("  ")
    .trimEnd();
}

async function show(
  team: TeamClient,
  [version]: readonly string[],
  { json }: VersionsOptions,
): Promise<void> {
  const { component } = await team.versions.get(Number(version));
  if (json) printJson(component);
  else process.stdout.write(textOf(component));
}

async function printDifference(
  team: TeamClient,
  values: readonly string[],
  { json }: VersionsOptions,
): Promise<void> {
  const [before, after] = await Promise.all(
    values.map(async (version) => textOf((await team.versions.get(Number(version))).component)),
  );
  const names = values.map((version) => `version ${version}`);
  const [from = "", to = ""] = names;
  const patch = createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, {
    headerOptions: FILE_HEADERS_ONLY,
  });
  if (json) printJson({ from: Number(values[0]), to: Number(values[1]), patch });
  else if (before === after) printLine("The two versions have the same component.");
  else process.stdout.write(patch);
}

async function label(
  team: TeamClient,
  [version, name]: readonly string[],
  { note, json }: VersionsOptions,
): Promise<void> {
  const changed = await team.versions.label(Number(version), {
    label: name || null,
    ...(note !== undefined && { note: note || null }),
  });
  if (json) printJson(changed);
  else printLine(lineOf(changed));
}

async function restore(
  team: TeamClient,
  [version]: readonly string[],
  { json }: VersionsOptions,
): Promise<void> {
  const restored = await team.versions.restore(Number(version));
  if (json) printJson(restored);
  else {
    printLine(
      `Team ${restored.id} has the component of version ${version} again, as version ${restored.component_version}.`,
    );
  }
}

function textOf(component: unknown): string {
  return `${JSON.stringify(component, null, 2)}\n`;
}
