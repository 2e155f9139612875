// A message that is edited or answered again: the conversation continues in a fork, at the same address.
import { type TeamClient, TroupeClient } from "troupe/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { UIMessage } from "../../../peers/ai-sdk.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { bearer, deployed, teamToken } from "../support/access.ts";
import { inTurn as oneAfterAnother, writer } from "../support/teams.ts";
import { SDK_NAMES } from "./support/sdks.ts";
import { agent, type Component, human, inTurn } from "./support/teams.ts";
import { type ChatOptions, newChat, textsOf } from "./support/test-chat.ts";

interface Page {
  messages: UIMessage[];
  next_cursor: string | null;
}

let openai: FakeOpenAI;
let worker: TestWorker;
let client: TroupeClient;
let team: TeamClient;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [{ name: "write", hold_after: [2], reply: { content: "One by one." } }],
  });
  worker = await TestWorker.start(
    await deployed({
      TENANT_TEAMS: "1000",
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: openai.url,
      ALLOWED_EGRESS: openai.origin,
    }),
  );
  client = new TroupeClient({ baseURL: await worker.origin, token: "acme" });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai.close();
});
let count = 0;
beforeEach(() => {
  count++;
});

/** An agent whose answers count, so that an answer shows what its conversation is. */
const counting = (): Component => inTurn(agent("clerk", ["One.", "Two.", "Three.", "Four."]));

describe.each(SDK_NAMES)("the chat of %s", (name) => {
  const chat = async (options: ChatOptions = {}) =>
    newChat(name, `${await worker.origin}/ai-sdk/teams/${team.id}/chat`, {
      id: "chat",
      headers: bearer("acme"),
      ...options,
    });
  async function chatWith(component: Component, options: ChatOptions = {}) {
    team = await client.teams.create({ id: `team-${count}`, component });
    return chat(options);
  }
  async function history(query = ""): Promise<Page> {
    const address = `/ai-sdk/teams/${team.id}/chat/chat/messages${query}`;
    const response = await worker.fetch(address, { headers: bearer("acme") });
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  }
  const branchOf = ({ metadata }: UIMessage): string =>
    (metadata as { run: { team_id: string } }).run.team_id;
  const asJson = (messages: UIMessage[]): unknown => JSON.parse(JSON.stringify(messages));

  test("regenerates an answer in a fork, and continues with the new answer", async () => {
    const one = await chatWith(counting());
    await one.sendMessage({ text: "First." });
    await one.sendMessage({ text: "Second." });
    const before = one.last;
    expect(textsOf(before)).toEqual(["Two."]);
    await one.regenerate();
    expect(one.error).toBeUndefined();
    expect(one.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    // The replies of the model belong to the conversation: the fork gives the second one.
    expect(textsOf(one.last)).toEqual(["Two."]);
    expect(one.last.id).not.toBe(before.id);
    const fork = branchOf(one.last);
    expect(fork).not.toBe(team.id);
    expect(await client.team(fork).get()).toMatchObject({
      forked_from: { team_id: team.id, turn: 2 },
    });
    // What was said before is still where it was.
    expect((await team.runs()).runs.map(({ id }) => id)).toContain(before.id);

    await one.sendMessage({ text: "Third." });
    expect(textsOf(one.last)).toEqual(["Three."]);
    expect(branchOf(one.last)).toBe(fork);
    expect((await team.runs()).runs).toHaveLength(2);
    // A page that comes later has this conversation, and no other.
    expect((await history()).messages).toEqual(asJson(one.messages));
    await one.regenerate();
    expect(textsOf(one.last)).toEqual(["Three."]);
    const latest = branchOf(one.last);
    expect(await client.team(latest).get()).toMatchObject({ forked_from: { team_id: fork } });
    expect((await history()).messages).toEqual(asJson(one.messages));
  });

  test("answers an edited message, whichever it was", async () => {
    const one = await chatWith(counting());
    await one.sendMessage({ text: "First." });
    await one.sendMessage({ text: "Second." });
    await one.sendMessage({ text: "Third." });
    const [first, , second] = one.messages;
    await one.sendMessage({ text: "Second, better.", messageId: second!.id });
    expect(one.error).toBeUndefined();
    expect(one.messages.flatMap(textsOf)).toEqual(["First.", "One.", "Second, better.", "Two."]);
    expect((await history()).messages).toEqual(asJson(one.messages));
    // What was said in the team that the fork comes from can be edited, too.
    await one.sendMessage({ text: "First, better.", messageId: first!.id });
    expect(one.messages.flatMap(textsOf)).toEqual(["First, better.", "One."]);
    const fork = client.team(branchOf(one.last));
    expect(await fork.get()).toMatchObject({ forked_from: { team_id: team.id, turn: 0 } });
    expect((await history()).messages).toEqual(asJson(one.messages));
    await one.sendMessage({ text: "Second, best." });
    expect(textsOf(one.last)).toEqual(["Two."]);
  });

  test("is read page by page over several branches", async () => {
    const one = await chatWith(counting());
    await one.sendMessage({ text: "First." });
    await one.sendMessage({ text: "Second." });
    await one.regenerate();
    await one.sendMessage({ text: "Third." });
    const pages: UIMessage[][] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Page = await history(`?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`);
      pages.unshift(page.messages);
      cursor = page.next_cursor;
    }
    expect(pages.flat()).toEqual(asJson(one.messages));
    const foreign = `?cursor=${(await client.teams.create({ component: counting() })).id}~~x`;
    const address = `/ai-sdk/teams/${team.id}/chat/chat/messages${foreign}`;
    const refused = await worker.fetch(address, { headers: bearer("acme") });
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining("cursor: must be the next_cursor"),
    ]);
  });

  test("loses the waiting run and its question when a message is edited", async () => {
    const one = await chatWith(inTurn(agent("guide", ["Where to?", "Where else?"]), human()));
    await one.sendMessage({ text: "Hello." });
    const [run] = (await team.runs()).runs;
    expect(run!.status).toBe("waiting");
    const { id: messageId } = one.messages[0]!;
    await one.sendMessage({ text: "Good morning.", messageId });
    expect(one.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textsOf(one.last)).toEqual(["Where to?"]);
    expect(await team.getRun(run!.id)).toMatchObject({ status: "cancelled" });
    // The question of the new run is answered at the same address.
    const reloaded = await chat();
    await reloaded.resumeStream();
    expect(reloaded.last.id).toBe(one.last.id);
    await one.sendMessage({ text: "To Lisbon." });
    expect(one.last.metadata).toMatchObject({ run: { status: "completed" } });
  });

  test("shows the result that a run gave an answer, and does not repeat it", async () => {
    const one = await chatWith(
      inTurn(agent("guide", ["Where to?"]), human(), agent("end", ["Bye."])),
    );
    await one.sendMessage({ text: "Hello." });
    await one.sendMessage({ text: "To Lisbon." });
    const before = one.last;
    await one.regenerate();
    expect(one.error).toBeUndefined();
    expect(asJson([one.last])).toEqual(asJson([before]));
    expect((await team.runs()).runs).toHaveLength(1);
  });

  test("needs only a team token, which stops what it started", async () => {
    team = await client.teams.create({
      id: `team-${count}`,
      component: oneAfterAnother(writer()) as Component,
    });
    const headers = bearer(await teamToken(worker, team.id, ["runs:read", "runs:write"]));
    const one = await chat({ headers });
    await one.sendMessage({ text: "Hello." });
    openai.rules.hold("write");
    const again = one.regenerate();
    await expect.poll(() => one.lastMessage?.role).toBe("assistant");
    const address = `/ai-sdk/teams/${team.id}/chat/chat/stop`;
    const stopped = await worker.fetch(address, { ...jsonInit({}), headers });
    expect(stopped.status).toBe(204);
    await again;
    openai.release("write");
    expect(one.last.metadata).toMatchObject({ run: { status: "cancelled" } });
    expect(branchOf(one.last)).not.toBe(team.id);
  });

  test("is that of the team after a reset, and after its fork was deleted", async () => {
    const one = await chatWith(counting());
    await one.sendMessage({ text: "First." });
    await one.regenerate();
    await client.team(branchOf(one.last)).delete();
    await one.sendMessage({ text: "Second." });
    expect(branchOf(one.last)).toBe(team.id);
    await one.regenerate();
    expect(branchOf(one.last)).not.toBe(team.id);
    await team.reset();
    await one.sendMessage({ text: "Third." });
    expect(branchOf(one.last)).toBe(team.id);
  });
});

test("clients of text streams get a sentence", async () => {
  team = await client.teams.create({ id: `team-${count}`, component: counting() });
  const send = (body: object, headers: Record<string, string> = {}) =>
    worker.fetch(
      `/ai-sdk/teams/${team.id}/chat`,
      jsonInit(body, "POST", { ...bearer("acme"), ...headers }),
    );
  const message = { id: "m", role: "user", parts: [{ type: "text", text: "Hello." }] };
  const text = await send({ id: "c", messages: [message] }, { accept: "text/plain" });
  expect([text.status, await text.text()]).toEqual([
    406,
    expect.stringMatching(/^no_text_stream: .*DefaultChatTransport/),
  ]);
  const completion = await send({ prompt: "Hello." });
  expect([completion.status, await completion.text()]).toEqual([
    422,
    expect.stringMatching(/^no_text_stream: .*useChat instead of useCompletion/),
  ]);
  expect((await team.runs()).runs).toEqual([]);
});
