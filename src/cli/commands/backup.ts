import { Command, Option } from "commander";
import type { ArchivedItem } from "../backup/archive-format.ts";
import { backUpToBucket, downloadBackup } from "../backup/bucket-backup.ts";
import type { Bucket } from "../backup/bucket.ts";
import { makeBackup } from "../backup/make-backup.ts";
import { restoreBackup } from "../backup/restore-backup.ts";
import { SECRETS_FILE } from "../backup/secrets-file.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connectServer, type ConnectionOptions, withConnection } from "./connection.ts";

interface BackupOptions extends ConnectionOptions {
  secretsKey?: string;
}

interface RestoreOptions extends BackupOptions {
  overwrite?: boolean;
  withoutSecrets?: boolean;
}

function secretsKeyOption(): Option {
  return new Option(
    "--secrets-key <key>",
    "the SECRETS_KEY of the server that is backed up; a backup with it needs that server's operator's key",
  ).env("TROUPE_SECRETS_KEY");
}

const ENVIRONMENT = `
s3://BUCKET/PREFIX is an address in R2 or another store with the API of S3. The environment has AWS_ENDPOINT_URL_S3,
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION if it is not "auto".`;

/** Holds the directories of backups that are on their way to a bucket or from it. */
const FOLDER = ".troupe";

/** The bucket that a target names; undefined for a directory. @throws CliError */
async function bucketOf(target: string): Promise<Bucket | undefined> {
  if (!/^s3:/i.test(target)) return undefined;
  const { Bucket } = await import("../backup/bucket.ts");
  return Bucket.open(target, process.env);
}

export function backupCommand(): Command {
  const command = new Command("backup")
    .description(
      "Reads everything of a tenant into a directory or a bucket. The same command again continues an interrupted backup.",
    )
    .argument("<target>", "a new directory, that of an interrupted backup, or s3://BUCKET/PREFIX")
    .addOption(secretsKeyOption())
    .addHelpText(
      "after",
      `
Secrets are left out: the server shows none. ${SECRETS_FILE} in the directory lists them, to be filled in before
"troupe restore". With --secrets-key the secrets of components are in the backup, sealed with that key.
${ENVIRONMENT}

Example:
  $ npx troupe backup ./backup-monday
  $ npx troupe backup s3://backups/monday`,
    )
    .action(async (target: string, { secretsKey, ...options }: BackupOptions) => {
      const bucket = await bucketOf(target);
      await connectServer(options, async (found) => {
        if (secretsKey !== undefined && found.kind !== "operator") {
          throw new CliError(
            "--secrets-key needs the operator's key with --key: other keys cannot read sealed secrets.",
            { exitCode: EXIT.usage, code: "operator_only" },
          );
        }
        const server = { ...found, secretsKey };
        const onItem = (item: ArchivedItem): void => {
          if (options.json) return printJson(item);
          const bytes = Object.values(item.files).reduce((sum, file) => sum + file.bytes, 0);
          printLine(`${item.kind} ${item.id}  ${bytes} bytes`);
        };
        const { end, missing } = await (bucket === undefined
          ? makeBackup(server, target, onItem)
          : backUpToBucket(server, bucket, FOLDER, onItem));
        const { items, left_out } = end;
        if (options.json) printJson({ target, items, left_out, missing_secrets: missing });
        else {
          printLine(`${items} items are in ${target}.`);
          if (missing.length > 0) {
            printLine(
              `${missing.length} secrets are missing: ${SECRETS_FILE} lists them. Fill them in before a restore.`,
            );
          }
        }
        if (left_out.length > 0) {
          throw new CliError(
            `${left_out.length} items could not be read:\n${left_out.join("\n")}`,
            {
              code: "left_out",
            },
          );
        }
      });
    });
  return withConnection(command);
}

export function restoreCommand(): Command {
  const command = new Command("restore")
    .description(
      "Writes a backup to a server, into the tenant of the key. The same command again continues a restore that was interrupted or refused in part.",
    )
    .argument("<target>", "the directory of a complete backup, or s3://BUCKET/PREFIX")
    .addOption(secretsKeyOption())
    .option("--overwrite", "replace what the tenant has under the same ids")
    .option("--without-secrets", "leave out what needs a secret that is missing")
    .addHelpText(
      "after",
      `
What the tenant has already is refused with 409, each id by itself. Items that were refused are tried again when the command is
repeated; those of which a part was refused, with --overwrite.
${ENVIRONMENT}

Example:
  $ npx troupe restore ./backup-monday --url https://troupe.example.com --key <key>`,
    )
    .action(
      async (
        target: string,
        { secretsKey, overwrite = false, withoutSecrets = false, ...options }: RestoreOptions,
      ) => {
        const bucket = await bucketOf(target);
        await connectServer(options, async (found) => {
          const directory = bucket === undefined ? target : await downloadBackup(bucket, FOLDER);
          const report = await restoreBackup({ ...found, secretsKey }, directory, {
            overwrite,
            withoutSecrets,
            onItem: (item) => {
              if (options.json) printJson(item);
              else printLine(`${item.kind} ${item.id}`);
            },
          });
          const { restored, refused, notes, todo, left_out } = report;
          if (options.json) printJson(report);
          else {
            printLine(`${restored} items are restored.`);
            for (const one of left_out) printLine(`The backup was made without ${one}`);
            for (const note of notes) printLine(note);
            if (bucket !== undefined) printLine(`The copy of the backup is in ${directory}.`);
            if (todo.length > 0) printLine(`\nLeft to do:\n${todo.join("\n")}`);
          }
          if (refused.length === 0) return;
          throw new CliError(
            `${refused.length} items or parts of them were refused. --overwrite replaces those items.`,
            {
              code: "refused_items",
              issues: refused.map(({ kind, id, status, reason }) => ({
                path: `${kind} ${id}`,
                message: `${status}: ${reason}`,
              })),
            },
          );
        });
      },
    );
  return withConnection(command);
}
