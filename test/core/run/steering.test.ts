import { expect, test } from "vitest";
import {
  AssistantAgent,
  type LLMMessage,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  runStream,
  steer,
  TextMentionTermination,
  ValueError,
} from "troupe";

/** A client that calls back before each of its answers, and records what it was asked with. */
class AskedClient extends ReplayChatCompletionClient {
  readonly asked: string[][] = [];
  readonly #before: (call: number) => void;

  constructor(answers: string[], before: (call: number) => void) {
    super(answers);
    this.#before = before;
  }

  override create(
    messages: readonly LLMMessage[],
    ...more: [never]
  ): ReturnType<ReplayChatCompletionClient["create"]> {
    this.asked.push(messages.map(({ content }) => JSON.stringify(content).slice(1, -1)));
    this.#before(this.asked.length);
    return super.create(messages, ...more);
  }
}

const agent = (name: string, modelClient: AskedClient): AssistantAgent =>
  new AssistantAgent({ name, modelClient, systemMessage: null });

test("a single agent answers once more to a message that came with its answer", async () => {
  const client = new AskedClient(["One.", "Two."], (call) => {
    if (call === 1) sent = steer(writer, "And?");
  });
  const writer = agent("writer", client);
  let sent = "";
  const shown: string[] = [];
  for await (const item of runStream(writer, "Begin.")) {
    if (item.type !== "TaskResult") shown.push(item.id === sent ? "sent" : item.type);
    else expect(item.messages.map(({ id }) => id)).toContain(sent);
  }
  expect(shown.filter((type) => type === "sent")).toHaveLength(1);
  expect(client.asked).toEqual([["Begin."], ["Begin.", "One.", "And?"]]);
});

test("a message with a recipient is heard by that agent alone, which gets the extra turn", async () => {
  const first = new AskedClient(["DONE", "DONE"], (call) => {
    if (call === 1) steer(team, "Only you.", { to: "b" });
  });
  const second = new AskedClient(["Read."], () => {});
  const team = new RoundRobinGroupChat([agent("a", first), agent("b", second)], {
    terminationCondition: new TextMentionTermination("DONE"),
  });
  await team.run("Begin.");
  expect(second.asked).toEqual([["Begin.", "DONE", "Only you."]]);
  expect(first.asked.at(-1)).toEqual(["Begin.", "DONE", "Read."]);
});

test("the message counts for a limit of messages, and no turn follows that limit", async () => {
  const client = new AskedClient(["One."], () => void steer(team, "Two."));
  const team = new RoundRobinGroupChat([agent("a", client)], {
    terminationCondition: new MaxMessageTermination(3),
  });
  const { stop_reason } = await team.run("Begin.");
  expect(stop_reason).toContain("Maximum number of messages 3 reached, current message count: 3");
  expect(client.asked).toHaveLength(1);
});

test("an unknown agent is refused", async () => {
  const client = new AskedClient(["One."], () => {
    expect(() => steer(team, "Hi.", { to: "c" })).toThrow(ValueError);
  });
  const team = new RoundRobinGroupChat([agent("a", client)], { maxTurns: 1 });
  await team.run("Begin.");
  expect(client.asked).toHaveLength(1);
});
