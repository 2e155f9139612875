import { type Endpoint, endpoint } from "../../http/endpoint.ts";
import { EVENT_STREAM } from "../../http/sse.ts";
import type { ProtocolServices } from "../services.ts";
import { refusal } from "./refusal.ts";

/** AG-UI 1.0: a team as an agent of frontends. */
export function agUiEndpoints(services: Pick<ProtocolServices, "limits">): Endpoint[] {
  return [
    endpoint({
      method: "post",
      path: "/ag-ui/teams/:team",
      id: "runAgUi",
      summary: "Run the team as an AG-UI agent: a RunAgentInput",
      tag: "AG-UI",
      scope: "runs:write",
      reads: "message",
      answers: { 200: { description: "Events of AG-UI 1.0.", media: EVENT_STREAM } },
      problems: [404, 409],
      refusal,
      async handle({ team, c }) {
        const { answer } = await import("./answer.ts");
        return answer(services, team, c.req.raw);
      },
    }),
  ];
}
