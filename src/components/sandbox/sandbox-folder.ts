import { fromBase64 } from "../../core/base64.ts";
import { endOf } from "../../core/cut.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { TaskFile } from "../../core/messages/task-files.ts";
import type { SandboxResult } from "./client/execution-stream.ts";
import type { Execution, SandboxClient } from "./client/sandbox-client.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";
import { SandboxError } from "./client/sandbox-error.ts";
import { SessionFiles } from "./session-files.ts";

/** Files that are sent at the same time. */
const SENT_AT_ONCE = 4;

/** The refusal of a sandbox that does not have the folder. */
const NO_FOLDER = "no_such_folder";

/** The folder below `$SANDBOX_FOLDERS` with the files of a run's task. */
const TASK_FOLDER = "task";

/** The longest name of a file, in characters: in UTF-8 the sandbox takes 255 bytes. */
const MAX_NAME_CHARACTERS = 80;

/** A file of a folder. */
interface FolderFile {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * A folder that code in a sandbox can read and not change. It is a session of its own there, named by its content, to which
 * the files are sent when the sandbox does not have them.
 */
export class SandboxFolder {
  /** The session with the files. */
  readonly session: string;
  readonly #name: string;
  readonly #files: readonly FolderFile[];

  private constructor(name: string, session: string, files: readonly FolderFile[]) {
    this.#name = name;
    this.session = session;
    this.#files = files;
  }

  /** @param name the folder's below `$SANDBOX_FOLDERS` */
  static async of(name: string, files: readonly FolderFile[]): Promise<SandboxFolder> {
    const hashes = await Promise.all(
      files.map(async ({ path, bytes }) => [path, await sha256Hex(bytes)]),
    );
    return new SandboxFolder(name, `folder-${await sha256Hex(JSON.stringify(hashes))}`, files);
  }

  /** The files of a run's task. Two of the same name get different paths. */
  static async ofTask(files: readonly TaskFile[]): Promise<SandboxFolder> {
    const taken = new Set<string>();
    const named = files.map(({ name, data }) => {
      const path = freeName(name, taken);
      taken.add(path);
      return { path, bytes: fromBase64(data) };
    });
    return SandboxFolder.of(TASK_FOLDER, named);
  }

  /** Runs code that can read the folder, and yields its output. @throws SandboxError when there is no result */
  async *execute(
    client: SandboxClient,
    address: SandboxAddress,
    session: string,
    execution: Omit<Execution, "folders">,
  ): AsyncGenerator<string, SandboxResult, void> {
    const folder = { name: this.#name, session: this.session, files: this.#files.length };
    const request = { ...execution, folders: [folder] };
    try {
      return yield* client.execute(session, request);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.problemCode !== NO_FOLDER) throw error;
      await this.#send(new SessionFiles(address), execution.signal);
      return yield* client.execute(session, request);
    }
  }

  /** Sends all files. The sandbox counts them, and refuses a folder that was not sent to its end. */
  async #send(files: SessionFiles, signal: AbortSignal): Promise<void> {
    const waiting = [...this.#files];
    const sendNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await this.#put(files, next, signal);
      }
    };
    await Promise.all(Array.from({ length: SENT_AT_ONCE }, sendNext));
  }

  async #put(files: SessionFiles, { path, bytes }: FolderFile, signal: AbortSignal): Promise<void> {
    const content = new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
    const written = await files.write(this.session, path, content, signal);
    if (written.ok) return;
    const { status, detail } = written.problem;
    const code = status >= 500 ? "sandbox_unavailable" : "sandbox_refused";
    throw new SandboxError(code, `the sandbox did not take ${path}: ${detail}`);
  }
}

/** The name of a file without what paths may not have; a number is put before one that is taken. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  const safe = name.replaceAll(/[\\/\p{C}]/gu, "_").replace(/^\.+$/, "_");
  const plain = endOf(safe, MAX_NAME_CHARACTERS) || "file";
  let path = plain;
  for (let number = 2; taken.has(path); number++) path = `${number}-${plain}`;
  return path;
}
