import { isJsonObject } from "../../core/json.ts";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import {
  ApiError,
  type CreateTeam,
  type TeamClient,
  type TroupeClient,
} from "../../client/index.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

/**
 * Reads a team from a file, or from the standard input for `-`: component JSON, or the body of `POST /v1/teams` with it.
 *
 * @throws CliError when it cannot be read or is not a JSON object
 */
async function readTeam(file: string): Promise<CreateTeam> {
  const source = nameOf(file);
  let content: string;
  try {
    content = file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw invalidFile(`${source} cannot be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw invalidFile(`${source} is not JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) {
    throw invalidFile(
      `${source} must contain a JSON object: a team or an agent as component JSON.`,
    );
  }
  const isBody = "component" in value && !("provider" in value);
  return isBody ? value : { component: value };
}

function nameOf(file: string): string {
  return file === "-" ? "The standard input" : file;
}

function invalidFile(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "invalid_file" });
}

/**
 * Creates a team from component JSON.
 *
 * @throws CliError with the places in the file when it does not load
 */
export async function createFrom(
  client: TroupeClient,
  file: string,
  team: Omit<CreateTeam, "component" | "template">,
): Promise<TeamClient> {
  const teamInput = await readTeam(file);
  try {
    return await client.teams.create({ ...teamInput, ...team });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "invalid_component") throw error;
    const issues = (error.problem.errors ?? []).map(({ path, message }) => ({
      path: path.replace(/^component\.?/, ""),
      message,
    }));
    throw new CliError(`${nameOf(file)} does not load.`, { code: error.code, issues });
  }
}

/**
 * The team of this id. It is created if it does not exist and the options name a template or a component. @throws CliError |
 * ApiError
 */
export async function findTeam(
  client: TroupeClient,
  id: string,
  { template, component }: { template?: string; component?: string } = {},
): Promise<TeamClient> {
  const team = client.team(id);
  try {
    await team.get();
    return team;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  if (component !== undefined) return createFrom(client, component, { id });
  if (template !== undefined) return client.teams.create({ template, id });
  throw new CliError(
    `There is no team "${id}". Create it with --template NAME or --component FILE, or with "troupe import FILE --id ${id}".`,
    { code: "team_not_found" },
  );
}
