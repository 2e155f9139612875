import { expect, test } from "vitest";
import {
  conversationId,
  isConversationOf,
  parseTaskId,
  taskId,
} from "#api/protocols/a2a/wire/ids.ts";
import { normalJson } from "#api/protocols/a2a/wire/normal-json.ts";
import { isVersion, versionOf } from "#api/protocols/a2a/wire/version.ts";

const parties = { tenant: "local", agent: "desk", owner: "someone" };

test("a conversation has one id for one message, and belongs to its parties only", async () => {
  const id = await conversationId(parties, "hello");
  expect(await conversationId(parties, "hello")).toBe(id);
  expect(await conversationId(parties, "hello again")).not.toBe(id);
  expect(await isConversationOf(parties, id)).toBe(true);
  for (const other of [{ tenant: "other" }, { agent: "other" }, { owner: "other" }]) {
    expect(await isConversationOf({ ...parties, ...other }, id)).toBe(false);
  }
  expect(await isConversationOf(parties, "desk")).toBe(false);
});

test("a task of a conversation names it, and a task of the agent's own team does not", async () => {
  const team_id = await conversationId(parties, "hello");
  expect(taskId({ id: "run", team_id: "desk" })).toBe("run");
  const id = taskId({ id: "run", team_id });
  expect(parseTaskId(id)).toEqual({ context: team_id, run: "run" });
  expect(parseTaskId("run")).toEqual({ context: undefined, run: "run" });
  expect(parseTaskId("a.b.c")).toBeUndefined();
});

test("names in snake case and null are normalized, and what belongs to the client is not", () => {
  const sent = {
    context_id: "c",
    task_id: null,
    parts: [{ media_type: "a/b", data: null, metadata: { own_key: null } }],
  };
  expect(normalJson(sent)).toEqual({
    contextId: "c",
    parts: [{ mediaType: "a/b", data: null, metadata: { own_key: null } }],
  });
});

test("a client's version is in its header, else in its query, else it is 0.3", () => {
  const version = (url: string, header?: string) =>
    versionOf(new Request(url, header === undefined ? {} : { headers: { "a2a-version": header } }));
  expect(version("http://troupe/?A2A-Version=1.0")).toBe("1.0");
  expect(version("http://troupe/?A2A-Version=1.0", "0.3")).toBe("0.3");
  expect(version("http://troupe/", " ")).toBe("0.3");
  expect(isVersion("1.0.2", "1.0")).toBe(true);
  expect(isVersion("1.01", "1.0")).toBe(false);
});
