import type { OpenedStream } from "../../../../contract/gateways/team-gateway.ts";
import { json } from "../../../http/endpoint/endpoint.ts";
import { wait } from "../../../../core/wait.ts";
import type { WholeAnswer } from "../encoder/sse.ts";

/** Between two connections to a team that broke one off. */
const PAUSE_MS = 500;
const DATA = "data: ";

/**
 * Waits for the complete answer. A team that is moved closes its streams; its run continues, and so does the request.
 *
 * @param reopen opens the stream once more
 * @param signal aborts when the client leaves
 * @throws ProblemError when the team is gone
 */
export async function completeResponse(
  opened: OpenedStream,
  reopen: () => Promise<OpenedStream>,
  signal: AbortSignal,
): Promise<Response> {
  let stream = opened;
  for (;;) {
    const text = "body" in stream ? await textOf(stream.body) : "";
    const line = text.split("\n").find((one) => one.startsWith(DATA));
    if (line !== undefined) {
      const { status, body } = JSON.parse(line.slice(DATA.length)) as WholeAnswer;
      // The run is over: the client's attempts would only start others.
      return json(body, status, status >= 400 ? { "x-should-retry": "false" } : {});
    }
    await wait(PAUSE_MS, signal);
    stream = await reopen();
  }
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  try {
    return await new Response(body).text();
  } catch {
    return "";
  }
}
