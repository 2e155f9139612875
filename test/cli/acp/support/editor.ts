import { spawn } from "node:child_process";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { ROOT } from "../../../support/npm-start.ts";

export interface EditorOptions {
  /** Answers questions about permission. Default: they stay open. */
  permit?: (request: RequestPermissionRequest) => RequestPermissionResponse["outcome"];
  /** Fills in forms. Without it, the editor has none. */
  fill?: (request: CreateElicitationRequest) => CreateElicitationResponse;
}

/** An editor with `troupe acp` as its agent, over the pipes of a real process. */
export interface Editor extends AsyncDisposable {
  connection: ClientConnection;
  /** The updates of all sessions, in their order. */
  updates: SessionUpdate[];
  /** What was asked for permission. */
  asked: RequestPermissionRequest[];
}

export async function startEditor(
  url: string,
  team: string,
  { permit, fill }: EditorOptions = {},
): Promise<Editor> {
  const { PATH = "", HOME = "" } = process.env;
  const program = spawn(process.execPath, [join(ROOT, "src/cli/bin.ts"), "acp", team], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH, HOME, TROUPE_URL: url },
  });
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const connection = client({ name: "editor" })
    .onRequest("session/request_permission", ({ params, signal }) => {
      asked.push(params);
      if (permit !== undefined) return { outcome: permit(params) };
      return new Promise((answer) => {
        signal.addEventListener("abort", () => answer({ outcome: { outcome: "cancelled" } }));
      });
    })
    .onRequest("elicitation/create", ({ params }) => fill?.(params) ?? { action: "cancel" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .connect(
      ndJsonStream(
        Writable.toWeb(program.stdin),
        Readable.toWeb(program.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  await connection.agent.request("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: fill === undefined ? {} : { elicitation: { form: {} } },
  });
  return {
    connection,
    updates,
    asked,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((done) => program.once("exit", done));
      connection.close();
      program.stdin.end();
      program.kill();
      await ended;
    },
  };
}

/** A session in a folder, without servers of MCP. */
export async function newSession({ connection }: Editor): Promise<string> {
  const { sessionId } = await connection.agent.request("session/new", {
    cwd: ROOT,
    mcpServers: [],
  });
  return sessionId;
}

export function prompt({ connection }: Editor, sessionId: string, text: string) {
  return connection.agent.request("session/prompt", {
    sessionId,
    prompt: [{ type: "text", text }],
  });
}

/** The text of a kind of chunks. */
export function textOf(
  updates: readonly SessionUpdate[],
  kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
): string {
  return updates
    .map((update) =>
      update.sessionUpdate === kind && update.content.type === "text" ? update.content.text : "",
    )
    .join("");
}
