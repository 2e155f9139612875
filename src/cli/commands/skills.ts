import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { Command } from "commander";
import type { ListedSkill, SkillInfo } from "../../client/index.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

/** The file that makes a folder a skill. */
const SKILL_FILE = "SKILL.md";

export function skillsCommand(): Command {
  return new Command("skills")
    .description("Puts skills into the tenant, lists, shows and removes them.")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(removeCommand());
}

function addCommand(): Command {
  const command = new Command("add")
    .description(
      "Puts a folder with SKILL.md, under the name of the folder. Equal files make no new version.",
    )
    .argument("<folder>", "the folder")
    .option("--name <name>", "the name in its SKILL.md, if the folder has another")
    .addHelpText("after", "\nExample:\n  $ npx troupe skills add ./skills/refunds")
    .action(async (folder: string, options: ConnectionOptions & { name?: string }) => {
      const files = await filesOf(folder);
      await connect(options, async (client) => {
        const name = options.name ?? basename(resolve(folder));
        show(await client.skills.put(name, files), options);
      });
    });
  return withConnection(command);
}

function listCommand(): Command {
  const command = new Command("list")
    .description("Lists the skills with their newest versions.")
    .addHelpText("after", "\nExample:\n  $ npx troupe skills list")
    .action(async (options: ConnectionOptions) => {
      await connect(options, async (client) => {
        for (let cursor: string | null | undefined; cursor !== null;) {
          const page = await client.skills.list({ limit: 200, cursor });
          for (const skill of page.skills) show(skill, options);
          cursor = page.next_cursor;
        }
      });
    });
  return withConnection(command);
}

function showCommand(): Command {
  const command = new Command("show")
    .description("Shows the instructions of a skill and its files.")
    .argument("<name>", "name of the skill")
    .option("--at <number>", "the number of an earlier version")
    .addHelpText("after", "\nExample:\n  $ npx troupe skills show refunds")
    .action(
      async (name: string, { at: version, ...options }: ConnectionOptions & { at?: string }) => {
        await connect(options, async (client) => {
          const skill = await client.skills.get(
            name,
            version === undefined ? {} : { version: Number(version) },
          );
          if (options.json) return printJson(skill);
          show(skill, options);
          for (const { path, size } of skill.files) printLine(`  ${path}  ${size} bytes`);
          printLine("");
          printLine(skill.text);
        });
      },
    );
  return withConnection(command);
}

function removeCommand(): Command {
  const command = new Command("rm")
    .description("Removes a skill with all its versions.")
    .argument("<name>", "name of the skill")
    .addHelpText("after", "\nExample:\n  $ npx troupe skills rm refunds")
    .action(async (name: string, options: ConnectionOptions) => {
      await connect(options, (client) => client.skills.delete(name));
    });
  return withConnection(command);
}

function show(skill: ListedSkill | SkillInfo, { json }: ConnectionOptions): void {
  if (json) return printJson(skill);
  const { name, version, size, description } = skill;
  const count = "files" in skill ? skill.files.length : skill.file_count;
  printLine(`${name}  version ${version}  files: ${count}  ${size} bytes  ${description}`);
}

/** The files of a folder; those whose names begin with a dot are left out. @throws CliError for a folder that is not a skill */
async function filesOf(folder: string): Promise<{ path: string; base64: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      throw refused(`There is no folder ${folder}.`);
    },
  );
  const files: { path: string; base64: string }[] = [];
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).split(sep).join("/");
    if (path.split("/").some((part) => part.startsWith("."))) continue;
    if ((await lstat(file)).isSymbolicLink()) {
      throw refused(`${path} is a link, which a skill cannot have.`);
    }
    if (entry.isFile()) files.push({ path, base64: (await readFile(file)).toString("base64") });
  }
  if (files.some(({ path }) => path === SKILL_FILE)) return files;
  throw refused(`The folder ${folder} has no ${SKILL_FILE}, so it is not a skill.`);
}

function refused(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "not_a_skill" });
}
