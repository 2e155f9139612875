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
import { CliError, EXIT } from "../terminal/errors.ts";

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
