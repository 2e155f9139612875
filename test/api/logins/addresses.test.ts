// Who is given the address of a login: everything that a credential can read is searched for it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { LoginServer } from "../../components/mcp/support/login-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { readUntil } from "../../support/read-until.ts";
import { bearer } from "../protocols/support/access.ts";
import { post as postMcp, request } from "../protocols/mcp/support/messages.ts";
import { post as postA2A, request as requestA2A, sent } from "../protocols/a2a/support/rpc.ts";
import { LoginStage } from "./support.ts";

let stage: LoginStage;
let server: LoginServer;
beforeAll(async () => {
  server = await LoginServer.start();
  stage = await LoginStage.start([server]);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const ASKED = /An operator has to connect|has to log in: only|Open this address/;
const ADDRESS = /\/v1\/connections\/login\?ticket=/;
const RUN_SCOPES = ["teams:read", "runs:read", "runs:write"];

/** What a response says, up to the question. */
async function textOf(response: Response): Promise<string> {
  if (response.body === null) return "";
  if (response.headers.get("content-type")?.includes("event-stream") !== true) {
    return response.text();
  }
  const reader = response.body.getReader();
  const text = await readUntil(reader, ASKED);
  void reader.cancel().catch(() => undefined);
  return text;
}

/** The ways to see that a run waits, by what they say. A way that the credential has not says nothing of logins. */
function read(team: string, run: string, key: string, query = ""): Promise<string[]> {
  const of = `/v1/teams/${team}/runs`;
  const paths = [
    `${of}/${run}${query}`,
    `${of}/${run}/requests${query}`,
    `${of}/${run}/events${query}`,
    `/v1/teams/${team}/events${query}`,
    `/v1/requests${query}`,
    `${of}${query}`,
    ...(query === "" ? [`${of}/${run}/trace`, `/v1/teams/${team}/messages`] : []),
  ];
  return Promise.all(
    paths.map(async (path) => {
      const response = await stage.worker.fetch(path, { headers: bearer(key) });
      return response.ok ? `${path} ${await textOf(response)}` : "";
    }),
  );
}

/** The paths whose answers have the address. */
function showing(answers: string[]): string[] {
  return answers.filter((text) => ADDRESS.test(text)).map((text) => text.split(/[ ?]/)[0] ?? "");
}

test("reads return the URL of a login for the run's user, or with the right to change teams", async () => {
  await stage.newTeam("seen", server.mcp);
  for (const user of ["ann", undefined]) {
    const begun = await stage.run("seen", user);
    const of = `/v1/teams/seen/runs`;
    const run = `${of}/${begun.id}`;
    const ways = [run, `${run}/requests`, `${run}/events`, "/v1/teams/seen/events"];
    const [question] = begun.requests;
    expect(question?.url).toMatch(ADDRESS);
    expect(question?.prompt).toContain(question?.url);
    expect(question?.prompt).toContain(user ? 'the user "ann"' : "that have no user");
    const shared = await stage.token("seen", ["conversation:read"], "ann");
    const ann = await stage.token("seen", RUN_SCOPES, "ann");
    const bob = await stage.token("seen", RUN_SCOPES, "bob");
    const nobody = await stage.token("seen", RUN_SCOPES);
    const cases: [string, string, string, string[]][] = [
      ["its user's token", ann, "", user ? [...ways, of] : []],
      ["another user's token", bob, "", []],
      ["a token without a user", nobody, "", []],
      ["a shared conversation", shared, "", []],
      ["a key that reads runs", "runs:read", "", []],
      ["a key of the tenant", "acme", "", user ? [] : [...ways, "/v1/requests", of]],
      ["one that names the user", "acme", "?user=ann", [...ways, "/v1/requests", of]],
      ["one that names another", "acme", "?user=bob", user ? [] : [...ways, "/v1/requests", of]],
    ];
    for (const [name, key, query, expected] of cases) {
      const answers = await read("seen", begun.id, key, query);
      expect(showing(answers), `${name}, run of ${user}`).toEqual(expected);
      const plain = answers.filter((text) => ASKED.test(text) && !ADDRESS.test(text));
      for (const text of plain) {
        expect(text, name).toMatch(
          user ? /only a credential of this user/ : /An operator has to connect 127/,
        );
      }
    }
    await stage.stop("seen", begun);
  }
});

/** Starts a run over each protocol. @param user the one that the call names, where the protocol has a place for it */
const PROTOCOLS: Record<string, (team: string, key: string, user?: string) => Promise<Response>> = {
  native: (team, key, user) =>
    stage.worker.fetch(`/v1/teams/${team}/runs`, {
      ...jsonInit({ task: "go", user }, "POST", { ...bearer(key), accept: "text/event-stream" }),
    }),
  "OpenAI chat": (team, key, user) => {
    const messages = [{ role: "user", content: "go" }];
    const body = { model: `team:${team}`, messages, user, stream: true };
    return stage.worker.fetch("/openai/v1/chat/completions", jsonInit(body, "POST", bearer(key)));
  },
  "OpenAI responses": (team, key, user) => {
    const body = { model: `team:${team}`, input: "go", user };
    return stage.worker.fetch("/openai/v1/responses", jsonInit(body, "POST", bearer(key)));
  },
  "AG-UI": (team, key, user) => {
    const messages = [{ id: "1", role: "user", content: "go" }];
    const forwardedProps = { troupe: user === undefined ? {} : { user } };
    const body = { threadId: "t", runId: "r", messages, forwardedProps };
    return stage.worker.fetch(`/ag-ui/teams/${team}`, jsonInit(body, "POST", bearer(key)));
  },
  "AI SDK": (team, key) => {
    const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "go" }] }];
    const body = { id: "c", messages };
    return stage.worker.fetch(`/ai-sdk/teams/${team}/chat`, jsonInit(body, "POST", bearer(key)));
  },
  A2A: async (team, key) => {
    const { body } = await postA2A(
      stage.worker,
      team,
      requestA2A("SendMessage", sent("go")),
      bearer(key),
    );
    return Response.json(body);
  },
  MCP: (team, key) =>
    postMcp(
      stage.worker,
      request(1, "tools/call", {
        name: `run_${team}`,
        arguments: { task: "go", wait_seconds: 20 },
      }),
      { headers: bearer(key), path: `/mcp/teams/${team}` },
    ),
};
const NAMING = new Set(["native", "OpenAI chat", "OpenAI responses", "AG-UI"]);
/** Servers of pages pass on to visitors what they get. */
const FOR_PAGES = new Set(["AG-UI", "AI SDK"]);

test.each(Object.keys(PROTOCOLS))("the same rules hold over %s", async (name) => {
  const start = PROTOCOLS[name];
  if (start === undefined) throw new TypeError(name);
  let teams = 0;
  const shows = async (whose: { token?: boolean; user?: string }): Promise<boolean> => {
    const team = `p${Object.keys(PROTOCOLS).indexOf(name)}-${++teams}`;
    await stage.newTeam(team, server.mcp);
    const key = whose.token ? await stage.token(team, RUN_SCOPES, whose.user) : "acme";
    const text = await textOf(await start(team, key, whose.token ? undefined : whose.user));
    expect(text, name).toMatch(ASKED);
    if (!ADDRESS.test(text)) {
      expect(text).toMatch(whose.user ? /has to log in/ : /An operator has to connect/);
    }
    return ADDRESS.test(text);
  };
  expect(await shows({ token: true, user: "ann" })).toBe(true);
  expect(await shows({ token: true })).toBe(false);
  expect(await shows({})).toBe(!FOR_PAGES.has(name));
  if (NAMING.has(name)) expect(await shows({ user: "ann" })).toBe(true);
});
