import { readFileSync } from "node:fs";
import { Argument, Command } from "commander";
import type { NotifyInfo, ReceiverInput } from "../../../client/index.ts";
import { CliError, EXIT } from "../../terminal/errors.ts";
import { printJson, printLine } from "../../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "../connection.ts";

const ACTIONS = ["list", "set"] as const;

export function notifyCommand(): Command {
  const command = new Command("notify")
    .summary("list and set who gets messages about a team")
    .description(
      `Works with the receivers of messages about a team: Slack, Telegram, e-mail addresses, webhooks.

  list            lists them: kind, address, events; secrets are masked
  set FILE        replaces all by those of a JSON file, a list such as [{"kind": "slack", "url": "https://..."}]; [] for none`,
    )
    .argument("<team>", "id of the team")
    .addArgument(new Argument("[action]").choices(ACTIONS).default("list"))
    .argument("[file]", "the JSON file with the receivers")
    .addHelpText(
      "after",
      "\nExample:\n  $ npx troupe notify demo set receivers.json\n  $ npx troupe notify demo",
    )
    .action(
      async (id: string, action: string, file: string | undefined, options: ConnectionOptions) => {
        const isSet = action === "set";
        if (isSet !== (file !== undefined)) {
          throw wrong(`"${action}" is used as: troupe notify TEAM ${isSet ? "set FILE" : action}`);
        }
        const given = file === undefined ? undefined : receiversIn(file);
        await connect(options, async (client) => {
          const team = client.team(id);
          print(given === undefined ? await team.notify() : await team.putNotify(given), options);
        });
      },
    );
  return withConnection(command);
}

function print({ notify, states }: NotifyInfo, { json }: ConnectionOptions): void {
  if (json) return printJson({ notify, states });
  if (notify.length === 0) return printLine("No one gets messages about this team.");
  for (const { id, kind, url, chat, to, on } of notify) {
    const state = states.find((one) => one.id === id);
    const disabled = state?.disabled_reason;
    const notes = [
      ...(state?.links === false ? ["without links"] : []),
      ...(disabled ? [`disabled: ${disabled}`] : []),
    ];
    printLine([kind, url ?? chat ?? to ?? "-", on.join(","), ...notes].join("  "));
  }
}

/** @throws CliError */
function receiversIn(file: string): readonly ReceiverInput[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw wrong(`The file "${file}" cannot be read.`);
  }
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw wrong(`The file "${file}" is not JSON: write a list of receivers.`);
  }
  // An answer of the API can be sent back as it is. The server checks the list.
  const list = Array.isArray(given) ? given : (given as { notify?: unknown } | null)?.notify;
  if (Array.isArray(list)) return list as ReceiverInput[];
  throw wrong(`The file "${file}" has no list of receivers: write [{"kind": "slack", ...}].`);
}

function wrong(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "usage" });
}
