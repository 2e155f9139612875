import * as z from "zod";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import type {
  FileContent,
  WorkspaceFile,
  WorkspaceFiles,
} from "../../contract/files/workspace-files.ts";
import {
  failure,
  type SandboxAddress,
  SandboxConnection,
  sessionPath,
} from "./client/sandbox-connection.ts";
import { SandboxError } from "./client/sandbox-error.ts";

/** Milliseconds that the sandbox may take to answer, or to accept a part of an upload. */
const ANSWER_MS = 30_000;

const pageSchema = z.object({
  files: z.array(
    z.object({ path: z.string(), size: z.number().int().min(0), modified_at: z.string() }),
  ),
  /** A sandbox without pages lists all files. */
  next_cursor: z.string().nullish(),
});

/** The files of sessions in a sandbox. */
export class SessionFiles implements WorkspaceFiles {
  readonly #connection: SandboxConnection;

  /** @throws ValueError for an invalid `url` */
  constructor(address: SandboxAddress) {
    this.#connection = new SandboxConnection(address);
  }

  list(
    session: string,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<Result<{ files: WorkspaceFile[]; next_cursor: string | null }>> {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(cursor !== undefined && { cursor }),
    });
    return asResult(async () => {
      const response = await this.#ask("GET", `${sessionPath(session)}/files?${query.toString()}`);
      const { files, next_cursor = null } = pageSchema.parse(await response.json());
      return { files, next_cursor };
    });
  }

  read(session: string, path: string, method: "GET" | "HEAD"): Promise<Result<FileContent>> {
    return asResult(async () => {
      const { body, headers } = await this.#ask(method, filePath(session, path));
      const size = headers.get("content-length");
      return {
        body,
        size: size === null ? undefined : Number(size),
        modified: headers.get("last-modified") ?? undefined,
      };
    });
  }

  write(
    session: string,
    path: string,
    content: ReadableStream<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Result<{ created: boolean }>> {
    return asResult(async () => {
      const response = await this.#ask("PUT", filePath(session, path), { content, signal });
      return { created: response.status === 201 };
    });
  }

  remove(session: string, path: string): Promise<Result<null>> {
    return asResult(async () => {
      await this.#ask("DELETE", filePath(session, path));
      return null;
    });
  }

  /** Gives up when nothing happens for {@link ANSWER_MS}. The body of the response may take any time. */
  async #ask(
    method: string,
    path: string,
    upload?: { content: ReadableStream<Uint8Array>; signal: AbortSignal },
  ): Promise<Response> {
    const silent = new AbortController();
    const giveUp = (): void => silent.abort();
    let timer = setTimeout(giveUp, ANSWER_MS);
    const body = upload?.content.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          clearTimeout(timer);
          timer = setTimeout(giveUp, ANSWER_MS);
          controller.enqueue(chunk);
        },
      }),
    );
    const signal = AbortSignal.any([silent.signal, ...(upload ? [upload.signal] : [])]);
    try {
      return await this.#connection.ask(method, path, signal, {
        ...(body && { body, headers: { "content-type": "application/octet-stream" } }),
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

function filePath(session: string, path: string): string {
  return `${sessionPath(session)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

async function asResult<T>(action: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await action());
  } catch (error) {
    return refusalOf(failure(error));
  }
}

/**
 * The part of an error for a client of the API: details about its file. The rest concerns only this server and the
 * sandbox.
 */
function refusalOf(error: Error): Refused {
  const { status, problemCode, issues, message, detail, retryAfterMs } =
    error instanceof SandboxError ? error : new SandboxError("sandbox_unavailable", error.message);
  if (status === 404) return refused(404, "file_not_found", "There is no file at this path.");
  if (status === 422 || status === 409 || status === 413)
    return {
      ok: false,
      problem: {
        status,
        code: codeFor(status, problemCode),
        detail: detail ?? message,
        ...(issues.length > 0 && { errors: [...issues] }),
      },
    };
  if (status === 429)
    return {
      ok: false,
      problem: {
        status: 503,
        code: "sandbox_busy",
        detail: message,
        retry_after: Math.ceil((retryAfterMs ?? 1000) / 1000),
      },
    };
  return refused(502, "sandbox_unavailable", message);
}

const CODES = { 409: "file_conflict", 413: "file_too_large", 422: "invalid_path" } as const;

function codeFor(status: keyof typeof CODES, input: string | undefined): string {
  return input !== undefined && /^[a-z0-9_]+$/.test(input) ? input : CODES[status];
}

function refused(status: number, code: string, detail: string): Refused {
  return { ok: false, problem: { status, code, detail } };
}
