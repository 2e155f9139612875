import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import { callerOf } from "../../http/access/access-control.ts";
import { type Endpoint, endpoint, type ProblemFormat } from "../../http/endpoint/endpoint.ts";
import { problemResponse } from "../../http/endpoint/problem.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import type { MessageServices, Services } from "../../http/endpoint/services.ts";

/** AG-UI 1.0: a team as an agent of frontends. */
export function agUiEndpoints(services: MessageServices & Pick<Services, "gateway">): Endpoint[] {
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
      async handle({ param, principal, c }) {
        const { answer } = await import("./answer.ts");
        const { signal } = c.req.raw;
        const teamFor = (user: string | undefined): TeamGateway => {
          const caller = callerOf(principal, { signal, user, isForPages: true });
          return services.gateway.team(principal.tenant, param("team"), caller);
        };
        return answer(services, { teamFor, principal, request: c.req.raw });
      },
    }),
  ];
}

/** A problem as clients of the protocol read it: `HttpAgent` gives its callers the members of a body with this type. */
const refusal: ProblemFormat = {
  media: "application/json",
  write: (problem, headers) =>
    problemResponse(problem, { ...headers, "content-type": "application/json" }),
};
