import type { Principal } from "#api/auth/principal.ts";
import { SCOPES } from "#contract/constants.ts";
import { expect, test } from "vitest";
import { ComponentRegistry } from "troupe";
import type { TeamGateway } from "#contract/gateways/team-gateway.ts";
import { DEFAULT_LIMITS } from "#api/http/endpoint/limits.ts";
import { answer } from "#api/protocols/ag-ui/answer.ts";
import { FakeGateway } from "../../../../support/fake-gateway.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";

/** The team's methods that a request with these messages calls: each is a call between objects. */
async function callsFor(...messages: object[]): Promise<string[]> {
  const team = new FakeGateway().team("tenant", "team");
  const component = SAMPLE_COMPONENT as never;
  await team.create({ id: "team", label: null, metadata: {}, component });
  const calls: string[] = [];
  const noted = new Proxy(team, {
    get(target, name: keyof TeamGateway) {
      const method = target[name] as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        calls.push(name);
        return method.apply(target, given);
      };
    },
  });
  const init = jsonInit({ threadId: "thread", runId: "run", messages });
  const request = new Request("http://troupe.test/ag-ui/teams/team", init);
  const services = {
    limits: DEFAULT_LIMITS,
    components: new ComponentRegistry(),
    files: undefined,
    documents: undefined,
    fetch,
  };
  const response = await answer(services, { teamFor: () => noted, principal: CALLER, request });
  await response.body?.cancel();
  return calls;
}

const CALLER: Principal = {
  id: "local",
  tenant: "local",
  scopes: SCOPES,
  kind: "local",
  name: null,
  expires_at: null,
};

const said = (id: string) => ({ id, role: "user", content: "Hello." });

test("a new message starts its run with a single call, after any conversation", async () => {
  expect(await callsFor(said("1"))).toEqual(["startStream"]);
  const told = { id: "2", role: "assistant", content: "Hello." };
  expect(await callsFor(said("1"), told, said("3"))).toEqual(["startStream"]);
});

test("a request with several new messages asks the team which of them it has", async () => {
  expect(await callsFor(said("1"), said("2"))).toEqual(["messages", "startStream"]);
});
