import * as z from "zod";
import { timeSchema } from "../common.ts";
import type { Result } from "../result.ts";

/** A file of a team's workspace. */
export const fileSchema = z.object({
  path: z.string().describe("Relative to the workspace, its names separated by slashes."),
  size: z.number().int().min(0).describe("In bytes."),
  modified_at: timeSchema,
  media_type: z.string().describe("By the extension of the name; the content is not inspected."),
});

export const filePageSchema = z.object({
  files: z.array(fileSchema).describe("Sorted by path."),
  next_cursor: z.string().nullable(),
});

/** A file as the workspace knows it. */
export type WorkspaceFile = Omit<z.infer<typeof fileSchema>, "media_type">;

/** An opened file. */
export interface FileContent {
  /** Null for a `HEAD`. */
  body: ReadableStream<Uint8Array> | null;
  /** Size in bytes; undefined if the workspace does not report it. */
  size: number | undefined;
  /** As an HTTP date, when it is known. */
  modified: string | undefined;
}

/**
 * The files of workspaces, by the team's session. A session that does not exist is empty. Refusals are 404
 * `file_not_found`, 409 and 413 with the workspace's code, 422 `invalid_path`, and 502 or 503 when the workspace cannot be
 * reached.
 */
export interface WorkspaceFiles {
  list(
    session: string,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<Result<{ files: WorkspaceFile[]; next_cursor: string | null }>>;
  read(session: string, path: string, method: "GET" | "HEAD"): Promise<Result<FileContent>>;
  /**
   * Writes a file while its content arrives, and creates missing directories. Changes nothing when the signal aborts before
   * the end.
   */
  write(
    session: string,
    path: string,
    content: ReadableStream<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Result<{ created: boolean }>>;
  remove(session: string, path: string): Promise<Result<null>>;
}
