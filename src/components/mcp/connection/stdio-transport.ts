import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isReference, type Secrets } from "../../../outgoing/dependencies.ts";
import { SandboxClient } from "../../sandbox/client/sandbox-client.ts";
import { SandboxError } from "../../sandbox/client/sandbox-error.ts";
import type { ProgramEvent } from "../../sandbox/client/program-stream.ts";
import type { SandboxAddress } from "../../sandbox/client/sandbox-connection.ts";
import type { ServerMessages } from "../answers/server-messages.ts";
import { McpError, sentences } from "../answers/mcp-error.ts";
import type { StdioServerConfig } from "./server-params.ts";

/** The most characters of one message. */
const MAX_LINE = 16_000_000;

type Ending = Extract<ProgramEvent, { type: "exit" }>;

export interface StdioTransportOptions {
  sandbox: SandboxAddress;
  session: string;
  secrets: Secrets;
  /** Reads what the program answers. */
  messages: ServerMessages;
  /** Gets the error for which the connection has to be closed. */
  onExcess: (error: McpError) => void;
}

/** The transport to a program that runs in a session of the sandbox. The program ends when the transport is closed. */
export class StdioTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  /**
   * The SDK recognizes a stdio transport by these fields. A program that does not answer version negotiation then gets
   * the older handshake over the same connection, instead of being started again.
   */
  readonly pid = null;
  readonly stderr = null;
  /** True if the program has a network. */
  network = true;
  readonly #client: SandboxClient;
  readonly #params: StdioServerConfig;
  readonly #options: StdioTransportOptions;
  readonly #ended = new AbortController();
  #program = "";
  #workspace = "";
  #closed = false;
  /** Resolves when the program's events have ended. */
  #read: Promise<void> = Promise.resolve();
  /** Settles when the last message has been sent. */
  #sent: Promise<void> = Promise.resolve();

  constructor(params: StdioServerConfig, options: StdioTransportOptions) {
    this.#params = params;
    this.#options = options;
    this.#client = new SandboxClient(options.sandbox);
  }

  /** The root for the program: the session's workspace, under the path by which the program knows it. */
  get roots(): { roots: { uri: string; name: string }[] } {
    const path = this.#workspace.split("/").map(encodeURIComponent).join("/");
    return { roots: [{ uri: `file://${path}`, name: "workspace" }] };
  }

  /** @throws SandboxError when the program cannot be started */
  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#params;
    const events = this.#client.startMcp(
      this.#options.session,
      { command, args, env: this.#environment(env ?? {}), cwd: cwd ?? null },
      this.#ended.signal,
    );
    const first = await events.next();
    if (first.done || first.value.type !== "started") {
      throw new McpError("mcp_connection", `The sandbox did not start "${command}".`, {
        outage: false,
      });
    }
    this.#program = first.value.program;
    this.#workspace = first.value.workspace;
    this.network = first.value.network;
    this.#read = this.#readAll(events);
  }

  /** Messages reach the program in order, though each is a request of its own to the sandbox. */
  send(message: JSONRPCMessage): Promise<void> {
    this.#options.messages.sent(message);
    const sent = this.#sent.then(() => this.#send(JSON.stringify(message)));
    this.#sent = sent.catch(() => undefined);
    return sent;
  }

  async #send(line: string): Promise<void> {
    try {
      await this.#client.sendToMcp(this.#options.session, this.#program, line);
    } catch (error) {
      // The events say how the program ended, and may come later than this refusal.
      if (error instanceof SandboxError && error.problemCode === "no_such_program") {
        await this.#read;
      }
      throw error;
    }
  }

  close(): Promise<void> {
    this.#ended.abort();
    this.#end();
    return Promise.resolve();
  }

  /** Resolves secrets; no variable of the sandbox's own environment is added. */
  #environment(env: { readonly [name: string]: string }): { [name: string]: string } {
    return Object.fromEntries(
      Object.entries(env).map(([name, value]) => [
        name,
        isReference(value) ? this.#options.secrets.resolve(value) : value,
      ]),
    );
  }

  async #readAll(events: ReturnType<SandboxClient["startMcp"]>): Promise<void> {
    try {
      for await (const event of events) {
        if (event.type === "line") this.#receive(event.line);
        if (event.type === "exit") {
          this.#options.onExcess(this.#ending(event));
        }
      }
    } catch (error) {
      if (!this.#ended.signal.aborted) this.onerror?.(error as Error);
    }
    this.#end();
  }

  #ending({ exitCode, stderr, reason }: Ending): McpError {
    const said = stderr.trim();
    const how = exitCode === null ? "was killed" : `ended with the exit code ${exitCode}`;
    // The reason comes first, because a program may have said a lot.
    const text = sentences(
      `The program "${this.#params.command}" ${how}.`,
      reason,
      said && `It said: ${said}`,
    );
    // A program that ends by itself does so again.
    return new McpError("mcp_connection", this.#options.secrets.redact(text), { outage: false });
  }

  /** Programs sometimes write other lines to their output; these are not messages. */
  #receive(line: string): void {
    if (line.length > MAX_LINE) {
      const text = `The MCP server sent a message of more than ${MAX_LINE} characters.`;
      this.#options.onExcess(new McpError("mcp_protocol", text));
      return;
    }
    let messages: unknown[];
    try {
      messages = this.#options.messages.read(line);
    } catch (error) {
      this.onerror?.(error as Error);
      return;
    }
    for (const message of messages) this.onmessage?.(message as JSONRPCMessage);
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }
}
