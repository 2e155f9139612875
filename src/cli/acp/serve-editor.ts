import { Readable, Writable } from "node:stream";
import type { AgentContext, RequestError as AcpError } from "@agentclientprotocol/sdk";
import { ApiError, RunError, type TeamClient, type TroupeClient } from "../../client/index.ts";
import { version } from "../terminal/package-root.ts";
import { EditorSession } from "./editor-session.ts";
import type { QuestionAbilities } from "./human-questions.ts";

/** The metadata of a team that an editor's session has: the id of the team that it is a copy of. */
const COPY_OF = "acp";

/**
 * Serves a team to an editor over the standard input and output, by the Agent Client Protocol, until the editor closes the input.
 * Each session is a copy of the team without its conversation.
 */
export async function serveEditor(client: TroupeClient, team: TeamClient): Promise<void> {
  const { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } =
    await import("@agentclientprotocol/sdk");
  const sessions = new Map<string, EditorSession>();
  let abilities: QuestionAbilities = { forms: false };

  const sessionOf = (id: string): EditorSession => {
    const session = sessions.get(id);
    if (session === undefined) throw RequestError.sessionNotFound(id);
    return session;
  };
  const open = (copy: TeamClient, editor: AgentContext): EditorSession => {
    const session = new EditorSession(copy, editor, abilities);
    sessions.set(copy.id, session);
    return session;
  };
  /** Turns the server's errors into those of the protocol. */
  const answering = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      throw protocolError(error, RequestError);
    }
  };

  const app = agent({ name: "troupe" })
    .onRequest("initialize", ({ params }) => {
      abilities = { forms: params.clientCapabilities?.elicitation?.form != null };
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "troupe", title: "Troupe", version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
        },
        authMethods: [],
      };
    })
    .onRequest("session/new", async ({ client: editor }) => {
      const copy = await answering(team.fork({ turn: 0, metadata: { [COPY_OF]: team.id } }));
      open(copy, editor);
      return { sessionId: copy.id };
    })
    .onRequest("session/load", async ({ params, client: editor }) => {
      const copy = client.team(params.sessionId);
      if (!(await answering(isSessionOf(copy, team)))) {
        throw RequestError.sessionNotFound(params.sessionId);
      }
      await answering(open(copy, editor).load());
      return {};
    })
    .onRequest("session/prompt", async ({ params }) => ({
      stopReason: await answering(sessionOf(params.sessionId).prompt(params.prompt)),
    }))
    .onNotification("session/cancel", ({ params }) => sessionOf(params.sessionId).cancel());

  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
  await connection.closed;
}

/** True for the team that is served, and for the copies of it that sessions made. */
async function isSessionOf(copy: TeamClient, team: TeamClient): Promise<boolean> {
  try {
    const { metadata } = await copy.get();
    return copy.id === team.id || metadata[COPY_OF] === team.id;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

function protocolError(error: unknown, Refusal: typeof AcpError): unknown {
  if (error instanceof RunError) {
    return Refusal.internalError({ run_id: error.run.id, error: error.run.error }, error.message);
  }
  if (!(error instanceof ApiError)) return error;
  const { problem, status } = error;
  if (status === 401 || status === 403) return Refusal.authRequired(problem, problem.detail);
  if (status === 422) return Refusal.invalidParams(problem, problem.detail);
  return Refusal.internalError(problem, problem.detail);
}
