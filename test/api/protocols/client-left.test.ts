import { expect, test } from "vitest";
import type { Gateway, StreamCaller } from "#contract/gateways/team-gateway.ts";
import { refuse } from "#contract/result.ts";
import { sha256Hex } from "#core/hash.ts";
import { DEFAULT_LIMITS } from "#api/http/endpoint/limits.ts";
import { conversationId } from "#api/protocols/a2a/wire/ids.ts";
import { a2aSettings } from "#api/protocols/a2a/card/settings.ts";
import { shippedProtocols } from "#api/protocols/protocols.ts";
import { testApp } from "../../support/http-app.ts";

const parties = { tenant: "local", agent: "agent", owner: await sha256Hex("local") };
const task = `${await conversationId(parties, "hello")}.run`;

test.for([
  ["A2A over HTTP+JSON", `/a2a/teams/agent/tasks/${task}`, undefined],
  [
    "A2A over JSON-RPC",
    "/a2a/teams/agent",
    { jsonrpc: "2.0", method: "GetTask", params: { id: task } },
  ],
  ["OpenAI", "/openai/v1/models/team:agent", undefined],
] as const)("%s: a team notices when the client disconnects", async ([, path, body]) => {
  const callers: StreamCaller[] = [];
  const missing = async () => refuse(404, "team_not_found", "There is no such team.");
  const gateway: Gateway = {
    team: (_tenant, _id, caller) => {
      if (caller) callers.push(caller);
      return { run: missing, team: missing } as never;
    },
  };
  const { modules } = shippedProtocols({
    gateway,
    limits: DEFAULT_LIMITS,
    a2a: a2aSettings({}),
    templates: async () => [],
  } as never);
  const { fetch } = testApp({ gateway, protocols: modules });
  const left = new AbortController();
  await fetch(path, {
    signal: left.signal,
    headers: { "a2a-version": "1.0", "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  left.abort();
  expect(callers.at(-1)).toMatchObject({ credential: "local", signal: { aborted: true } });
});
