import * as z from "zod";
import { cursorParameter } from "../../contract/query-parameters.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { unwrap } from "../problem.ts";
import { cursorOf, eventStream, eventStreamHead } from "../sse.ts";

/** The event streams. */
export function streamEndpoints(): Endpoint[] {
  const query = z.strictObject({
    after: cursorParameter.optional().describe("Recorded items after this cursor."),
  });
  const common = {
    method: "get" as const,
    tag: "Runs" as const,
    scope: "runs:read" as const,
    query,
    resumable: true,
    problems: [404],
  };

  return [
    endpoint({
      ...common,
      path: "/v1/teams/:team/events",
      id: "streamTeam",
      summary: "Everything that happens in the team, as server-sent events; stays open",
      answers: { 200: { description: "The stream.", frames: "StreamFrame" } },
      async handle({ query: { after }, team, c }) {
        const input = { run: null, after: cursorOf(c.req.header("last-event-id"), after) };
        if (c.req.raw.method !== "HEAD") return eventStream(team, input);
        unwrap(await team.team());
        return eventStreamHead();
      },
    }),

    endpoint({
      ...common,
      path: "/v1/teams/:team/runs/:run/events",
      id: "streamRun",
      summary: "A run as server-sent events, up to its end",
      answers: {
        200: { description: "The stream.", frames: "StreamFrame" },
        204: { description: "The run is over and nothing is left to send." },
      },
      async handle({ query: { after }, team, param, c }) {
        const run = param("run");
        const input = { run, after: cursorOf(c.req.header("last-event-id"), after) };
        if (c.req.raw.method !== "HEAD") return eventStream(team, input);
        unwrap(await team.run(run));
        return eventStreamHead();
      },
    }),
  ];
}
