import type { FileHandle } from "node:fs/promises";
import { invalid, ProblemError } from "../problem.ts";
import type { SessionState } from "./state.ts";
import { apply, measure, parentsOf, type StoredEntry } from "./workspace.ts";

export interface FileInfo {
  path: string;
  /** In bytes. */
  size: number;
  modified_at: string;
}

interface FileLimits {
  workspaceBytes: number;
  workspaceFiles: number;
}

/** A part of the list of files, in the order of their paths. */
export interface FilePage {
  files: FileInfo[];
  /** The cursor of the next page: the last path of this one. Null on the last page. */
  next_cursor: string | null;
}

/**
 * The files of a workspace, for clients. Links are never followed: a path below a link does not exist.
 */
export class SessionFiles {
  readonly #state: SessionState;
  readonly #limits: FileLimits;

  constructor(state: SessionState, limits: FileLimits) {
    this.#state = state;
    this.#limits = limits;
  }

  /** At most `limit` files whose paths are behind the cursor. */
  list({ limit, cursor = "" }: { limit: number; cursor?: string | undefined }): FilePage {
    const rest = [...this.#state.current.workspace]
      .flatMap(([path, entry]) => {
        if (entry.type !== "file" || path <= cursor) return [];
        return [{ path, size: entry.size, modified_at: entry.modified_at }];
      })
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const files = rest.slice(0, limit);
    return { files, next_cursor: rest.length > limit ? (files.at(-1)?.path ?? null) : null };
  }

  /** Opens a file. The caller closes it. @throws ProblemError 404, or 422 for a link and paths below one */
  async open(path: string): Promise<{ handle: FileHandle; size: number; modifiedAt: string }> {
    for (;;) {
      this.#requireNoLink([...parentsOf(path), path]);
      const entry = this.#at(path);
      if (entry?.type !== "file") throw noFile(path, entry);
      const handle = await this.#state.store.open(entry.blob);
      if (handle !== undefined) return { handle, size: entry.size, modifiedAt: entry.modified_at };
      // The file was replaced or removed after the lookup.
      if (this.#at(path) === entry) throw new Error(`The blob of a file is missing.`);
    }
  }

  /**
   * Writes a file while its content arrives, and creates missing directories. True when the file is new.
   *
   * @throws ProblemError 409, 413, or 422 below a link; what the content throws, and then nothing has changed
   */
  put(path: string, content: AsyncIterable<Uint8Array>): Promise<boolean> {
    return this.#state.using(async () => {
      this.#requirePlace(path);
      const entry: StoredEntry = {
        type: "file",
        ...(await this.#state.store.putStream(content)),
        mode: 0o644,
        modified_at: new Date().toISOString(),
      };
      let created = false;
      await this.#state.update((current) => {
        this.#requirePlace(path);
        created = !current.workspace.has(path);
        const workspace = apply(current.workspace, { set: new Map([[path, entry]]), removed: [] });
        this.#requireRoom(measure(workspace));
        return { ...current, workspace };
      });
      return created;
    });
  }

  /** Removes a file or link. @throws ProblemError 404, 409 for a directory, or 422 below a link */
  remove(path: string): Promise<void> {
    return this.#state.using(() =>
      this.#state.update((current) => {
        this.#requireNoLink(parentsOf(path));
        const entry = this.#at(path);
        if (entry === undefined) throw noFile(path, entry);
        if (entry.type === "directory") throw isDirectory(path);
        const workspace = apply(current.workspace, { set: new Map(), removed: [path] });
        return { ...current, workspace };
      }),
    );
  }

  #at(path: string): StoredEntry | undefined {
    return this.#state.current.workspace.get(path);
  }

  /** @throws ProblemError 422 when one of the paths is a link */
  #requireNoLink(paths: readonly string[]): void {
    const link = paths.find((path) => this.#at(path)?.type === "link");
    if (link === undefined) return;
    throw invalid("is_a_link", `${JSON.stringify(link)} is a link, and links are not followed.`, [
      { path: "path", message: "must not lead through a link" },
    ]);
  }

  #requirePlace(path: string): void {
    this.#requireNoLink(parentsOf(path));
    if (this.#at(path)?.type === "directory") throw isDirectory(path);
    const blocked = parentsOf(path).find((parent) => {
      const entry = this.#at(parent);
      return entry !== undefined && entry.type !== "directory";
    });
    if (blocked === undefined) return;
    throw new ProblemError(
      409,
      "not_a_directory",
      `${JSON.stringify(blocked)} is not a directory.`,
    );
  }

  #requireRoom({ bytes, entries }: { bytes: number; entries: number }): void {
    const { workspaceBytes, workspaceFiles } = this.#limits;
    if (bytes <= workspaceBytes && entries <= workspaceFiles) return;
    throw new ProblemError(
      413,
      "workspace_full",
      `A workspace may have ${workspaceBytes} bytes in ${workspaceFiles} files, links and directories.`,
    );
  }
}

function noFile(path: string, entry: StoredEntry | undefined): ProblemError {
  const what = entry === undefined ? "There is no file" : `There is a ${entry.type}, not a file,`;
  return new ProblemError(404, "no_such_file", `${what} at ${JSON.stringify(path)}.`);
}

function isDirectory(path: string): ProblemError {
  return new ProblemError(409, "is_a_directory", `${JSON.stringify(path)} is a directory.`);
}
