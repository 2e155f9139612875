import { createHash } from "node:crypto";
import * as z from "zod";
import { beginningOf } from "../../core/cut.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

const fileSchema = z.strictObject({
  // A list that was changed must not name files outside of the directory.
  path: z.string().regex(/^[a-z0-9_-][\w.-]*(\/[a-z0-9_-][\w.-]*)+$/),
  sha256: z.string(),
  bytes: z.number(),
});

export const itemSchema = z.strictObject({
  kind: z.string(),
  id: z.string(),
  files: z.record(z.string(), fileSchema),
});

/** One thing that was backed up, such as a team, with its files by name. */
export type ArchivedItem = z.output<typeof itemSchema>;

export const startSchema = z.strictObject({
  format: z.literal("troupe.backup"),
  version: z.literal(1),
  url: z.string(),
  tenant: z.string(),
  started_at: z.string(),
});

export const endSchema = startSchema.extend({
  ended_at: z.string(),
  items: z.number(),
  sha256: z.string().describe("Of the list of items."),
  left_out: z.array(z.string()),
});

export type BackupStart = z.output<typeof startSchema>;
export type BackupEnd = z.output<typeof endSchema>;

/** The file that is written first, and in a bucket sent first. */
export const STARTED = "started.json";
/** The file that is written last, and in a bucket sent last: without it the backup is not complete. */
export const ENDED = "backup.json";
export const ITEMS = "items.ndjson";

export function keyOf({ kind, id }: Pick<ArchivedItem, "kind" | "id">): string {
  return `${kind} ${id}`;
}

/** A name that every file system takes and tells from others, also without regard to case. */
export function fileNameOf(id: string): string {
  if (/^[a-z0-9_-][a-z0-9_.-]{0,99}$/.test(id)) return id;
  const plain = id.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-");
  return `${beginningOf(plain, 60)}.${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The content of a file of JSON. @throws CliError for another one */
export function parsed<T>(content: string, schema: z.ZodType<T>, file: string): T {
  try {
    return schema.parse(JSON.parse(content));
  } catch {
    throw damaged(file);
  }
}

/** The items of the list that a complete backup has. @throws CliError for another list */
export function itemsOf(list: string, { sha256 }: BackupEnd, file: string): ArchivedItem[] {
  if (createHash("sha256").update(list).digest("hex") !== sha256) throw damaged(file);
  return completeLines(list).map((line) => itemSchema.parse(JSON.parse(line)));
}

export function completeLines(list: string): string[] {
  // The last piece is empty, or a line that was cut off.
  return list.split("\n").slice(0, -1);
}

export function damaged(file: string): CliError {
  return wrong(`${file} is damaged: it is not as the backup has written it.`, "backup_damaged");
}

export function wrong(message: string, code: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code });
}
