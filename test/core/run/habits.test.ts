// Runs as programs write them that come from AutoGen: methods, a text as the task, what the result has besides messages.
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import {
  AssistantAgent,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  RunError,
  run,
  runStream,
  type StructuredMessage,
} from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";
import { lines, speaker, TestAgent } from "../support/agents.ts";

/** What plain JavaScript may call. */
interface Untyped {
  run(...given: unknown[]): Promise<unknown>;
  runStream(...given: unknown[]): unknown;
}

describe("a run", () => {
  const replay = (...answers: string[]) =>
    new AssistantAgent({ name: "ann", modelClient: new ReplayChatCompletionClient(answers) });

  test("takes its task as a text", async () => {
    expect(lines((await run(replay("Hi."), "Hello.")).messages)).toEqual([
      "user: Hello.",
      "ann: Hi.",
    ]);
    for await (const item of runStream(replay("Hi."), "Hello.")) {
      if (item.type === "TaskResult") expect(item.text).toBe("Hi.");
    }
  });

  test("is a method of agents and of teams", async () => {
    const ann = replay("One.", "Two.", "Three.");
    expect((await ann.run("Hello.")).text).toBe("One.");
    const team = new RoundRobinGroupChat([ann], { maxTurns: 1 });
    const { text, stop_reason } = await team.run({ task: "Again.", outputTaskMessages: false });
    expect([text, stop_reason]).toEqual(["Two.", "Maximum number of turns 1 reached."]);
    const items: string[] = [];
    for await (const item of team.runStream("Once more.")) items.push(item.type);
    expect(items).toEqual(["TextMessage", "TextMessage", "TaskResult"]);
  });

  test("refuses options after its task, which would have no effect", async () => {
    const ann = replay("One.");
    const team = new RoundRobinGroupChat([ann], { maxTurns: 1 });
    const [inAgent, inTeam] = [ann, team].map((subject) => subject as unknown as Untyped);
    const refused = "in one object with its task";
    for (const subject of [inAgent, inTeam]) {
      expect(() => subject?.run("Hello.", { answer: () => "Yes." })).toThrow(refused);
      expect(() => subject?.runStream("Hello.", { answer: () => "Yes." })).toThrow(refused);
    }
    await expect((run as unknown as Untyped["run"])(ann, "Hello.", {})).rejects.toThrow(refused);
    expect(() => (runStream as unknown as Untyped["run"])(ann, "Hello.", {})).toThrow(refused);
    expect((await ann.run("Hello.")).text).toBe("One.");
  });

  test("has a result that is the same JSON as before", async () => {
    const result = await replay("Hi.").run("Hello.");
    expect(Object.keys(JSON.parse(JSON.stringify(result)) as object)).toEqual([
      "type",
      "messages",
      "stop_reason",
    ]);
    expect(result.output).toBeUndefined();
  });
});

const forecastSchema = z
  .object({
    city: z.string(),
    celsius: z.number(),
    at: z.string().transform((day) => new Date(day)),
  })
  .meta({ title: "Forecast" });

function forecaster(
  answer: string | object,
  { repaired = [], ...options }: { handoffs?: string[]; repaired?: string[] } = {},
) {
  return new AssistantAgent({
    name: "forecaster",
    modelClient: new ScriptedChatCompletionClient([
      typeof answer === "string" ? answer : [answer as never],
      ...repaired,
    ]),
    outputContentType: forecastSchema,
    ...options,
  });
}

describe("structured output", () => {
  const answer = '{"city":"Oslo","celsius":-3,"at":"2026-01-02"}';

  test("is typed, and is the answer as the schema parses it", async () => {
    const result = await run(forecaster(answer), "How cold is it?");
    expectTypeOf(result.output).toEqualTypeOf<{ city: string; celsius: number; at: Date }>();
    expect(result.output).toEqual({ city: "Oslo", celsius: -3, at: new Date("2026-01-02") });
    expect((await forecaster(answer).run("How cold is it?")).output.celsius).toBe(-3);
  });

  test("is the content of a typed message", async () => {
    const { messages } = await run(forecaster(answer), "How cold is it?");
    const last = messages.at(-1);
    if (last?.type !== "StructuredMessage[Forecast]") throw new Error(last?.type);
    expectTypeOf(last).toExtend<StructuredMessage<{ city: string; celsius: number }>>();
    expect(last.content.city).toBe("Oslo");
  });

  test("is missing after another message, and the error says so", async () => {
    const handoff = { id: "1", name: "transfer_to_bob", arguments: "{}" };
    const result = await forecaster(handoff, { handoffs: ["bob"] }).run("How cold is it?");
    expect(() => result.output).toThrow(
      'the run has no output of "forecaster": it ended with a HandoffMessage of "forecaster", not with a StructuredMessage[Forecast]',
    );
  });

  test("is the content of a team's last message", async () => {
    const team = new RoundRobinGroupChat([forecaster(answer)], { maxTurns: 1 });
    const { output } = await team.run("How cold is it?");
    expectTypeOf(output).toBeUnknown();
    expect(output).toMatchObject({ city: "Oslo" });
  });
});

describe("an error of a run", () => {
  test("names the agent, the turn and the step, and keeps the cause", async () => {
    const refused = new TypeError("the model is gone");
    const bob = new AssistantAgent({
      name: "bob",
      modelClient: new ScriptedChatCompletionClient([refused]),
    });
    const error = await failure(new RoundRobinGroupChat([new TestAgent("ann"), bob]).run("Go."));
    expect(error.message).toBe(
      'The agent "bob" failed in turn 2, step "speaker:bob/model:0": the model is gone',
    );
    expect(error).toMatchObject({
      agent: "bob",
      turn: 2,
      step: "speaker:bob/model:0",
      code: "run_failed",
    });
    expect(error.cause).toBe(refused);
  });

  test("keeps the code and the issues of the cause", async () => {
    const error = await failure(forecaster('{"city":1}', { repaired: ['{"city":2}'] }).run("Go."));
    expect(error.code).toBe("invalid_message");
    expect(error.issues.map(({ path }) => path)).toContain("city");
    expect(error.data).toMatchObject({ agent: "forecaster", turn: 1, step: null });
  });

  test("names the turn if no agent caused it", async () => {
    const team = new RoundRobinGroupChat([new TestAgent("ann")], {
      terminationCondition: Object.assign(Object.create(null) as never, {
        initialState: () => null,
        reset: () => null,
        terminated: () => false,
        check: () => {
          throw new Error("no rule");
        },
      }),
    });
    const error = await failure(team.run("Go."));
    expect(error.message).toBe("The run failed in turn 0: no rule");
    expect(error).toMatchObject({ agent: null, turn: 0, step: null });
  });

  test("describes the value that an answer function must return", async () => {
    const asking = speaker("human", async (_, ctx) => {
      await ctx.ask({ id: ctx.id(), kind: "input", source: "human", prompt: "?" });
      return "done";
    });
    const answered = asking.run({ task: "Go.", answer: () => "yes" as never });
    await expect(answered).rejects.toThrow(
      'The option "answer" of the run must return { content: "..." } to the input that "human" asks for, not "yes"',
    );
    expect((await asking.run({ task: "Go.", answer: () => ({ content: "yes" }) })).text).toBe(
      "done",
    );
  });
});

async function failure(running: Promise<unknown>): Promise<RunError> {
  const error: unknown = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof RunError) return error;
  throw new Error("the run did not fail with a RunError", { cause: error });
}
