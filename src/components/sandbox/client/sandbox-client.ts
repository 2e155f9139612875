import * as z from "zod";
import type { CodeBlock } from "../../../core/code/code-block.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import { type ExecutionEnd, readExecution, type SandboxResult } from "./execution-stream.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { type ProgramEvent, readProgram } from "./program-stream.ts";
import {
  failure,
  type SandboxAddress,
  SandboxConnection,
  sessionPath,
  unavailable,
  sandboxAddressSchema,
} from "./sandbox-connection.ts";
import { SandboxError } from "./sandbox-error.ts";
import { checkOptions } from "../../../core/options/options.ts";

/** Four pings of the sandbox; without any, the connection counts as lost. */
const SILENCE_MS = 60_000;

/** Time limit of requests that do not run code. */
const SHORT_MS = 10_000;

/** A language that a sandbox runs; blocks name it by its name or an alias. */
export interface SandboxLanguage {
  name: string;
  aliases: string[];
  version: string;
  /** The packages that code can import besides the standard library. */
  packages?: { name: string; version: string }[] | undefined;
}

const languageSchema: z.ZodType<SandboxLanguage> = z.object({
  name: z.string(),
  aliases: z.array(z.string()),
  version: z.string(),
  packages: z.array(z.object({ name: z.string(), version: z.string() })).optional(),
});
const languagesSchema = z.object({ languages: z.array(languageSchema) });
const healthSchema = z.object({
  programs: z.object({}).nullable().optional(),
  env: z.boolean().optional(),
  folders: z.boolean().optional(),
});

/** A request to run code. */
export interface Execution {
  blocks: readonly CodeBlock[];
  /** Environment variables of the code. */
  env?: { readonly [name: string]: string };
  /** The time limit of each block in seconds. */
  timeoutSeconds: number;
  /** Files of other sessions, which the code can read below `$SANDBOX_FOLDERS/NAME` and not change. */
  folders?: readonly { name: string; session: string; files: number }[];
  /** The idempotency key: a repeated request gets the recorded result, and code does not run twice. */
  key: string;
  signal: AbortSignal;
  trace?: TraceContext | undefined;
}

/** A program that speaks MCP over its standard input and output. */
export interface McpProgram {
  command: string;
  args: readonly string[];
  env: { readonly [name: string]: string };
  /** Relative to the workspace. */
  cwd: string | null;
}

/** A client of the sandbox protocol (docs/sandbox.md). */
export class SandboxClient {
  readonly #connection: SandboxConnection;
  readonly #silenceMs: number;
  #takesEnv = false;
  #takesFolders = false;

  /** @throws ValueError for an invalid `url` */
  constructor(options: SandboxAddress) {
    const checked = checkOptions<SandboxAddress>(sandboxAddressSchema, options, "SandboxClient");
    const { silenceMs = SILENCE_MS, ...address } = checked;
    this.#connection = new SandboxConnection(address);
    this.#silenceMs = silenceMs;
  }

  /** True if the sandbox starts programs of MCP servers; undefined if it does not say. */
  async startsPrograms(signal: AbortSignal): Promise<boolean | undefined> {
    const response = await this.#connection.ask("GET", "/healthz", signal);
    const { success, data } = healthSchema.safeParse(await response.json());
    return success && data.programs !== undefined ? data.programs !== null : undefined;
  }

  /** True if code can get folders that it can read and not change. @throws SandboxError */
  async takesFolders(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#asksForFolders(AbortSignal.any([signal, AbortSignal.timeout(SHORT_MS)]));
    } catch (error) {
      signal.throwIfAborted();
      throw failure(error);
    }
  }

  /**
   * Runs blocks in order until one fails, and yields output as it arrives.
   *
   * @throws SandboxError when there is no result; the code may have run nevertheless
   * @throws the signal's reason; the code continues until {@link cancel}
   */
  async *execute(
    session: string,
    { blocks, env = {}, timeoutSeconds, folders = [], key, signal, trace }: Execution,
  ): AsyncGenerator<string, SandboxResult, void> {
    const timeout = new IdleTimeout(this.#silenceMs, signal);
    let end: ExecutionEnd | undefined;
    try {
      const hasEnv = Object.keys(env).length > 0;
      if (hasEnv) await timeout.wait(this.#requireEnv(timeout.signal));
      if (folders.length > 0) await timeout.wait(this.#requireFolders(timeout.signal));
      const response = await timeout.wait(
        this.#connection.ask("POST", `${sessionPath(session)}/execute`, timeout.signal, {
          headers: {
            accept: "text/event-stream",
            "content-type": "application/json",
            "idempotency-key": key,
            ...trace,
          },
          body: JSON.stringify({
            code_blocks: blocks.map(({ language, code }) => ({ language, code })),
            timeout_seconds: timeoutSeconds,
            ...(hasEnv && { env }),
            ...(folders.length > 0 && { folders }),
          }),
        }),
      );
      if (response.body !== null) end = yield* readExecution(response.body, timeout);
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.expired) throw unavailable(`sent nothing for ${this.#silenceMs / 1000} seconds`);
      throw failure(error);
    }
    if (end === undefined) throw unavailable("closed the connection before the result");
    if ("problem" in end) throw this.#connection.refusal(end.problem);
    return end.result;
  }

  /** Cancels an execution, if it has not ended. */
  async cancel(session: string, key: string): Promise<void> {
    await this.#delete(`${sessionPath(session)}/executions/${encodeURIComponent(key)}`);
  }

  /**
   * Starts a program in a session and yields its events. It ends when its reader stops, and with the session.
   *
   * @throws SandboxError when it cannot be started, or the connection is lost
   * @throws the signal's reason
   */
  async *startMcp(
    session: string,
    program: McpProgram,
    signal: AbortSignal,
  ): AsyncGenerator<Exclude<ProgramEvent, { type: "problem" }>, void, void> {
    const timeout = new IdleTimeout(this.#silenceMs, signal);
    try {
      const response = await timeout.wait(
        this.#connection.ask("POST", `${sessionPath(session)}/mcp`, timeout.signal, {
          headers: { accept: "text/event-stream", "content-type": "application/json" },
          body: JSON.stringify(program),
        }),
      );
      if (response.body === null) return;
      for await (const event of readProgram(response.body, timeout)) {
        if (event.type === "problem") throw this.#connection.refusal(event.problem);
        yield event;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.expired) throw unavailable(`sent nothing for ${this.#silenceMs / 1000} seconds`);
      throw failure(error);
    }
  }

  /** Writes a line to the standard input of a program. @throws SandboxError */
  async sendToMcp(session: string, program: string, line: string): Promise<void> {
    const path = `${sessionPath(session)}/mcp/${encodeURIComponent(program)}`;
    try {
      await this.#connection.ask("POST", path, AbortSignal.timeout(SHORT_MS), {
        headers: { "content-type": "application/json" },
        body: line,
      });
    } catch (error) {
      throw failure(error);
    }
  }

  /** Deletes a session: stops its code, deletes its files and results. */
  async deleteSession(session: string): Promise<void> {
    await this.#delete(sessionPath(session));
  }

  /** @throws SandboxError */
  async languages(): Promise<SandboxLanguage[]> {
    const signal = AbortSignal.timeout(SHORT_MS);
    try {
      const response = await this.#connection.ask("GET", "/v1/languages", signal);
      return languagesSchema.parse(await response.json()).languages;
    } catch (error) {
      throw failure(error);
    }
  }

  /** A sandbox without `folders` in its protocol would refuse the request in other words. @throws SandboxError */
  async #requireFolders(signal: AbortSignal): Promise<void> {
    if (await this.#asksForFolders(signal)) return;
    throw new SandboxError(
      "sandbox_refused",
      'the sandbox does not take folders ("folders"), which scripts of skills need, so the script was not run: containers of Cloudflare have none, so use a sandbox service (SANDBOX_URL with CODE=service); update an old one',
    );
  }

  async #asksForFolders(signal: AbortSignal): Promise<boolean> {
    if (this.#takesFolders) return true;
    const response = await this.#connection.ask("GET", "/healthz", signal);
    const { success, data } = healthSchema.safeParse(await response.json());
    return (this.#takesFolders = success && data.folders === true);
  }

  /** A sandbox without `env` in its protocol might run the code without the variables. @throws SandboxError */
  async #requireEnv(signal: AbortSignal): Promise<void> {
    if (this.#takesEnv) return;
    const response = await this.#connection.ask("GET", "/healthz", signal);
    const { success, data } = healthSchema.safeParse(await response.json());
    if (!success || data.env !== true) {
      throw new SandboxError(
        "sandbox_refused",
        'the sandbox does not take environment variables ("env"), so the code was not run: update the sandbox, or remove "env"',
      );
    }
    this.#takesEnv = true;
  }

  /** Accepts a 404. @throws SandboxError */
  async #delete(path: string): Promise<void> {
    try {
      await this.#connection.ask("DELETE", path, AbortSignal.timeout(SHORT_MS));
    } catch (error) {
      if (!(error instanceof SandboxError && error.status === 404)) throw failure(error);
    }
  }
}
