import type {
  NotifyInfo,
  ScheduleInfo,
  TasksOfTeam,
  NotedTeam,
  TeamVersion,
  TriggerInfo,
} from "../../client/index.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import { SealedSecrets } from "../../secrets/sealed-secrets.ts";
import { CliError, EXIT, type Issue } from "../terminal/errors.ts";
import type { SecretsFile } from "./secrets-file.ts";

/** A version of a component, with its secrets redacted; `sealed` has them as they are stored. */
export interface ArchivedVersion extends TeamVersion {
  component: ComponentModel;
  sealed?: ComponentModel;
}

/** The small parts of a team. The large ones are files of their own. */
export interface ArchivedTeam {
  team: NotedTeam;
  /** Oldest first. */
  versions: ArchivedVersion[];
  schedules: ScheduleInfo[];
  triggers: TriggerInfo[];
  notify: NotifyInfo["notify"];
  /** Null for a team without a board. */
  tasks: TasksOfTeam["tasks"] | null;
  /** The names of the parts of its state; none for a team that has done nothing. */
  state: string[];
  files: { path: string; name: string }[];
  /** Tokens and links that have not ended, and approvals for equal calls: both are given again. */
  tokens: number;
  approvals: number;
}

/** Triggers whose senders issue the secret. */
export const SECRET_OF_SENDER: readonly string[] = ["stripe", "slack"];

/** The place of the secrets of a version: each one may have others. */
export function componentPlace(team: string, version: number): string {
  return `team/${team}/versions/${version}/component`;
}

/**
 * The secrets that a team would be restored without: those that are missing, and sealed ones without a key.
 *
 * @throws CliError for another key, and for a file outside of the workspace
 */
export async function lackedSecrets(
  { team, versions, files }: ArchivedTeam,
  secrets: SecretsFile,
  secretsKey: string | undefined,
): Promise<Issue[]> {
  for (const { path } of files) requireInside(team.id, path);
  const issues: Issue[] = [];
  for (const { component_version, component, sealed } of versions) {
    if (sealed !== undefined && secretsKey !== undefined) await openComponent(sealed, secretsKey);
    else {
      const { missing } = secrets.fill(componentPlace(team.id, component_version), component);
      const message = sealed === undefined ? "has no value" : "is sealed: --secrets-key opens it";
      issues.push(...missing.map((path) => ({ path, message })));
    }
  }
  return issues;
}

/** Refuses the path of a file that would lead a request to another address than that of the file. @throws CliError */
export function requireInside(team: string, path: string): void {
  if (!path.split(/[/\\]/).some((segment) => ["", ".", ".."].includes(segment))) return;
  throw new CliError(
    `Team ${team} has a file whose path is not one within its workspace: ${JSON.stringify(path)}.`,
    { code: "invalid_path" },
  );
}

/** A component with the secrets that the backup has sealed. @throws CliError for another key */
export async function openComponent(sealed: ComponentModel, key: string): Promise<ComponentModel> {
  try {
    return await new SealedSecrets(key).open(sealed);
  } catch {
    throw new CliError(
      "--secrets-key is not the SECRETS_KEY with which the server has sealed the secrets of its teams.",
      { exitCode: EXIT.usage, code: "wrong_secrets_key" },
    );
  }
}
