import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "troupe/client";
import { searchTeams } from "#api/http/routes/search-teams.ts";
import type { FoundMessages } from "#contract/team/found-messages.ts";
import { ok, refuse } from "#contract/result.ts";
import { sha256Hex } from "#core/hash.ts";
import { listener } from "../../../../console/test/support/components.ts";
import { TestWorker } from "../../../support/worker.ts";

describe("a search over all teams", () => {
  let worker: TestWorker;
  let client: TroupeClient;

  const as = async (token: string): Promise<TroupeClient> =>
    new TroupeClient({ baseURL: await worker.origin, token });

  beforeAll(async () => {
    const scopes = ["teams:read", "teams:write", "runs:write"];
    const keys = [
      ["owner", "acme", scopes],
      ["runner", "acme", ["runs:read", "runs:write"]],
      ["other", "umbrella", scopes],
    ] as const;
    worker = await TestWorker.start({
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify(
        await Promise.all(
          keys.map(async ([key, tenant, given]) => ({
            hash: await sha256Hex(key),
            tenant,
            scopes: given,
          })),
        ),
      ),
    });
    client = await as("owner");
    for (const [id, label, said] of [
      ["quiet", "Quiet", ["Nothing."]],
      ["coast", "The coast", ["A lighthouse.", "A second Lighthouse.", "A third lighthouse."]],
      ["harbour", null, ["The lighthouse of the harbour."]],
    ] as const) {
      const team = await client.teams.create({ id, component: listener(), label });
      for (const text of said) await team.run(text).result();
    }
    const foreign = await (
      await as("other")
    ).teams.create({ id: "foreign", component: listener() });
    await foreign.run("A lighthouse of another tenant.").result();
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  test("finds the messages of each team under its name, those of the team that was active last first", async () => {
    const { messages, ...rest } = await client.messages.search({ q: "LIGHTHOUSE" });
    expect(
      messages.map(({ team_id, team_label, excerpt }) => [team_id, team_label, excerpt]),
    ).toEqual([
      ["harbour", null, "The lighthouse of the harbour."],
      ["coast", "The coast", "A third lighthouse."],
      ["coast", "The coast", "A second Lighthouse."],
      ["coast", "The coast", "A lighthouse."],
    ]);
    expect(rest).toEqual({
      searched_teams: ["harbour", "coast", "quiet"],
      complete: true,
      next_cursor: null,
    });
    const [first] = messages;
    const own = await client.team("harbour").findMessages({ q: "lighthouse" });
    expect(own.messages[0]).toMatchObject({ seq: first?.seq, turn: first?.turn });
  });

  test("returns messages of every team before more of one, and reports that there are others", async () => {
    const { messages, complete } = await client.messages.search({ q: "lighthouse", limit: 2 });
    expect(messages.map(({ excerpt }) => excerpt)).toEqual([
      "The lighthouse of the harbour.",
      "A third lighthouse.",
    ]);
    expect(complete).toBe(false);
  });

  test("covers the teams that were active last, and the others with a cursor", async () => {
    const many = await as("other");
    for (let place = 0; place < 20; place++) await many.teams.create({ component: listener() });
    const first = await many.messages.search({ q: "lighthouse" });
    expect(first.messages).toEqual([]);
    expect(first.searched_teams).toHaveLength(20);
    expect(first.complete).toBe(false);
    const second = await many.messages.search({
      q: "lighthouse",
      cursor: first.next_cursor ?? "",
    });
    expect(second).toMatchObject({
      messages: [{ team_id: "foreign" }],
      searched_teams: ["foreign"],
      next_cursor: null,
    });
  });

  test("requires the right to read all teams", async () => {
    const runner = await as("runner");
    await expect(runner.messages.search({ q: "a" })).rejects.toMatchObject({
      code: "missing_scope",
    });
    const { token } = await client
      .team("coast")
      .createToken({ scopes: ["teams:read"], expires_in: 60 });
    const bound = await as(token);
    await expect(bound.messages.search({ q: "a" })).rejects.toMatchObject({ code: "other_team" });
    expect((await bound.team("coast").findMessages({ q: "third" })).messages).toHaveLength(1);
    await expect(client.messages.search({ q: " " })).rejects.toMatchObject({
      code: "invalid_query",
    });
  });
});

describe("a search over several teams", () => {
  const hit = (seq: number): FoundMessages["messages"][number] => ({
    seq,
    turn: seq,
    type: "TextMessage",
    source: "user",
    excerpt: `found ${seq}`,
  });
  const team = (id: string): { id: string; label: null } => ({ id, label: null });
  const all =
    (...seqs: number[]) =>
    async () =>
      ok({ messages: seqs.map(hit), searched_to: null });

  test("leaves out a team that fails or does not answer in time, and does not report a deleted one as missing", async () => {
    const answers: Record<string, () => Promise<never>> = {
      fast: all(1) as never,
      broken: () => Promise.reject(new Error("away")),
      gone: async () => refuse(404, "team_not_found", "It is gone.") as never,
      stuck: () => new Promise(() => undefined),
    };
    const search = (...ids: string[]) =>
      searchTeams(ids.map(team), { q: "found", limit: 10 }, (id) => ({
        findMessages: answers[id] as never,
      }));
    expect(await search("fast", "gone")).toMatchObject({
      searched_teams: ["fast"],
      complete: true,
    });
    for (const missing of ["broken", "stuck"]) {
      const found = await search(missing, "fast");
      expect(found).toMatchObject({ searched_teams: ["fast"], complete: false });
      expect(found.messages).toEqual([{ ...hit(1), team_id: "fast", team_label: null }]);
    }
  });

  test("takes as many messages of each team as fit", async () => {
    const answers = { a: all(9, 8, 7, 6), b: all(5), c: all(4, 3, 2) } as const;
    const found = await searchTeams(
      [team("a"), team("b"), team("c")],
      { q: "found", limit: 6 },
      (id) => ({ findMessages: answers[id as "a"] }),
    );
    expect(found.messages.map(({ seq }) => seq)).toEqual([9, 8, 7, 5, 4, 3]);
    expect(found.complete).toBe(false);
  });
});
