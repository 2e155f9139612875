import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  BaseChatAgent,
  type ChatAgent,
  HandoffTermination,
  type JsonObject,
  RoundRobinGroupChat,
  Swarm,
} from "troupe";
import {
  type CellResult,
  evaluate,
  type EvaluateOptions,
  type ScoredRun,
  ScriptedChatCompletionClient,
} from "troupe/testing";
import { asking, model, refunding, scripted } from "./support.ts";
import type { Subject } from "troupe/testing";

/** Evaluates one item, and gives its cell and the run as scorers saw it. */
async function cellOf(
  create: () => Subject,
  item: Omit<EvaluateOptions["data"][number], "task">,
  options: Partial<EvaluateOptions> = {},
): Promise<{ cell: CellResult; run: ScoredRun | undefined }> {
  let run: ScoredRun | undefined;
  const { results } = await evaluate({
    data: [{ task: "Go.", ...item }],
    variants: [{ name: "a", create }],
    scorers: [
      {
        name: "seen",
        score: (scored) => {
          run = scored;
          return true;
        },
      },
    ],
    ...options,
  });
  const [cell] = results;
  if (cell === undefined) throw new Error("there is no cell");
  return { cell, run };
}

describe("prepared answers", () => {
  test("answer a person's text and an approval", async () => {
    const text = await cellOf(asking, { answers: [{ kind: "input", answer: "Monday" }] });
    expect(text.cell).toMatchObject({ status: "completed", output: "Monday" });
    const approval = await cellOf(() => refunding(17), {
      answers: [{ kind: "approval", answer: true }],
    });
    expect(approval.cell.output).toContain("refunded 17");
    const refusal = { approved: false, reason: "too late" };
    const refused = await cellOf(() => refunding(17), {
      answers: [{ kind: "approval", answer: refusal }],
    });
    expect(refused.cell.output).toContain("too late");
  });

  test("are chosen by tool and arguments, in order, each once; those of the evaluation come after", async () => {
    const when = { properties: { order: { const: 2 } } };
    const { cell } = await cellOf(
      () => refunding(1, 2, 3),
      {
        answers: [
          { kind: "approval", tool: "other", answer: false },
          { kind: "approval", tool: "refund", when, answer: { approved: false, reason: "not 2" } },
          { kind: "approval", answer: true },
        ],
      },
      { answers: [{ kind: "approval", answer: { approved: false, reason: "not 3" } }] },
    );
    expect(cell.output).toContain("refunded 1");
    expect(cell.output).toContain("not 2");
    expect(cell.output).toContain("not 3");
  });

  test("a question without an answer fails the run and says what it asked", async () => {
    const { cell } = await cellOf(() => refunding(17), {
      answers: [{ kind: "input", answer: "x" }],
    });
    expect(cell).toMatchObject({
      status: "failed",
      output: null,
      error: { code: "unanswered" },
      waits_for: { kind: "approval", source: "desk", tool: "refund", arguments: { order: 17 } },
      scores: { seen: { score: 0, pass: false } },
    });
    expect(cell.error?.message).toContain(
      '"desk" waits for an answer of the kind approval about the tool "refund"',
    );
  });
});

describe("a simulated user", () => {
  test("talks until it ends the talk, and a scorer sees all of it", async () => {
    const replies = new ScriptedChatCompletionClient([
      "A table, please.",
      "Tomorrow.",
      "Thanks! DONE",
    ]);
    const user = { model_client: replies, persona: "a guest", goal: "Get a table.", max_turns: 5 };
    const host = new AssistantAgent({
      name: "host",
      modelClient: scripted("Welcome.", "Which day?", "It is yours."),
    });
    const { cell, run } = await cellOf(() => host, { user });
    expect(cell).toMatchObject({ status: "completed", output: "It is yours." });
    expect(run?.messages.map(({ source }) => source)).toEqual([
      "user",
      "host",
      "user",
      "host",
      "user",
      "host",
    ]);
    expect(run?.turns).toBe(3);
    expect(JSON.stringify(replies.requests[0]?.messages)).toContain("a guest");
    expect(JSON.stringify(replies.requests[1]?.messages.at(-1))).toContain("host: Which day?");
    replies.assertDone();
  });

  test("has no more turns than it may", async () => {
    const user = { model_client: scripted("one", "two"), goal: "Talk.", max_turns: 2 };
    const host = new AssistantAgent({ name: "host", modelClient: scripted("a", "b", "c") });
    const { cell } = await cellOf(() => host, { user });
    expect(cell).toMatchObject({ status: "completed", output: "c" });
  });

  test("answers questions that no prepared answer fits", async () => {
    const user = {
      model_client: model("Tuesday, please", "END"),
      goal: "Come.",
      stop: "END",
      max_turns: 3,
    };
    expect((await cellOf(asking, { user })).cell).toMatchObject({ output: "Tuesday, please" });
    const strict = { ...user, model_client: model("No, it is too much.", "END") };
    expect((await cellOf(() => refunding(17), { user: strict })).cell.output).toContain(
      "it is too much",
    );
    const kind = { ...user, model_client: model("Yes.", "END") };
    expect((await cellOf(() => refunding(17), { user: kind })).cell.output).toContain(
      "refunded 17",
    );
  });

  test("that ends the talk at a question fails the run", async () => {
    const user = { model_client: model("DONE"), goal: "Leave.", max_turns: 3 };
    const { cell } = await cellOf(asking, { user });
    expect(cell).toMatchObject({
      status: "failed",
      waits_for: { kind: "input", prompt: "Which day?" },
    });
    expect(cell.error?.message).toContain("the simulated user has ended the talk");
  });

  test("gives a talk back that was handed to it", async () => {
    const desk = (): Swarm => {
      const give = { id: "1", name: "transfer_to_user", arguments: "{}" };
      const modelClient = scripted([give], "Bye.");
      const agent = new AssistantAgent({ name: "desk", modelClient, handoffs: ["user"] });
      return new Swarm([agent], {
        maxTurns: 1,
        terminationCondition: new HandoffTermination("user"),
      });
    };
    const user = { model_client: model("Order 17", "DONE"), goal: "Refund.", max_turns: 3 };
    const { cell } = await cellOf(desk, { user });
    expect(cell).toMatchObject({ status: "completed", output: "Bye." });
  });
});

describe("a run that would not end", () => {
  /** An agent that waits, and knows no signal. */
  class Silent extends BaseChatAgent {
    readonly definition = {
      provider: "test.Silent",
      componentType: "agent",
      role: "agent",
      version: 1,
    } as const;
    readonly producedMessageTypes = ["TextMessage"];
    // oxlint-disable-next-line require-yield
    async *onMessagesStream(): ReturnType<ChatAgent["onMessagesStream"]> {
      return new Promise(() => {});
    }
    onReset(): Promise<void> {
      return Promise.resolve();
    }
    toConfig(): JsonObject {
      return {};
    }
  }

  test.each([
    ["an agent that hangs", (): Subject => new Silent("silent", "It hangs.")],
    [
      "a team without a condition",
      (): Subject => {
        const replies = Array.from({ length: 20_000 }, () => "again");
        return new RoundRobinGroupChat([
          new AssistantAgent({ name: "a", modelClient: scripted(...replies) }),
        ]);
      },
    ],
  ])("fails after its time: %s", async (_name, create) => {
    const { cell } = await cellOf(create, {}, { timeout: 0.05 });
    expect(cell).toMatchObject({ status: "failed", error: { code: "timeout" } });
  });

  test("a scorer that would not end is a failed one", async () => {
    const create = (): Subject => new AssistantAgent({ name: "a", modelClient: scripted("Hi.") });
    const scorers = [{ name: "slow", score: () => new Promise<boolean>(() => {}) }];
    const { cell } = await cellOf(create, {}, { timeout: 0.05, scorers });
    expect(cell).toMatchObject({ status: "completed", scores: { slow: { score: null } } });
  });
});
