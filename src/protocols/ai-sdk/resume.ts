import type { TeamGateway } from "../../contract/gateways/team-gateway.ts";
import { unwrap } from "../../http/problem.ts";
import { eventStreamHead, streamAnswer } from "../../http/sse.ts";
import { chatFormat, HEADERS } from "./format.ts";

/**
 * The stream of the message that the team's active run is writing, or has written when it asked something: from the
 * message's beginning, as the SDK expects it. 204 without an active run.
 *
 * @param head whether only the headers are asked for
 * @throws ProblemError 404
 */
export async function resume(team: TeamGateway, head: boolean): Promise<Response> {
  const { active_run: run } = unwrap(await team.team());
  if (run === null) return streamAnswer({ done: true }, HEADERS);
  if (head) return eventStreamHead();
  const format = chatFormat({ part: "replay" });
  return streamAnswer(unwrap(await team.stream({ run, after: 0, format })), HEADERS);
}
