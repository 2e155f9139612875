import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import type { ComponentModel, LLMMessage, TurnContext } from "troupe";
import { ChatCompletionCache, InMemoryStore, callModel } from "troupe";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { agent, roundRobin, Signal, TestTeam, texts, value } from "../../support/team.ts";
import { PATIENCE } from "../../../support/patience.ts";

function asked(content: string): LLMMessage[] {
  return [{ content, source: "user", type: "UserMessage" }];
}

/** A team of one assistant whose model gives these answers, each to a request it has not had. */
function cachedTeam(...answers: string[]): Promise<TestTeam> {
  const client = {
    provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
    config: { chat_completions: answers },
  };
  const assistant: ComponentModel = {
    provider: "AssistantAgent",
    config: {
      name: "assistant",
      description: "An assistant",
      model_client: {
        provider: "autogen_ext.models.cache.ChatCompletionCache",
        config: { client },
      },
      model_client_stream: true,
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
    },
  };
  return TestTeam.create(roundRobin([assistant], 1));
}

/** Asks in a conversation of its own. */
async function answer(team: TestTeam, task: string): Promise<unknown> {
  const run = await team.finished((await team.start(task)).id);
  value(await team.gateway.reset());
  return texts(run).at(-1);
}

/** A team whose agent does this at each turn. */
function scriptedTeam(act: (ctx: TurnContext) => Promise<string>): Promise<TestTeam> {
  const self = agent("self", async function* (_self, ctx) {
    yield* [];
    return act(ctx);
  });
  return TestTeam.create(roundRobin([self], 1));
}

async function entries(team: TestTeam): Promise<number> {
  const [table] = await team.sql("select 1 from sqlite_master where name = 'cache'");
  return table === undefined ? 0 : (await team.sql("select * from cache")).length;
}

describe("cached results of a model", () => {
  test("are kept with the team, whatever happens to its object, and not shared with others", async () => {
    const team = await cachedTeam("one", "two");
    expect(await answer(team, "x")).toBe("one");
    await team.evict();
    expect(await answer(team, "x")).toBe("one");
    expect(await answer(team, "y")).toBe("two");
    expect(await answer(team, "y")).toBe("two");
    expect(await entries(team)).toBe(2);
    const other = await cachedTeam("three");
    expect(await answer(other, "x")).toBe("three");
  });

  test("cost two rows when they are new, and none when they are found", async () => {
    const team = await cachedTeam("one", "two");
    await answer(team, "x");
    const rows: number[] = [];
    for (const task of ["x", "y", "y"]) {
      await team.delivered();
      const before = await team.rowsWritten();
      await answer(team, task);
      await team.delivered();
      rows.push((await team.rowsWritten()) - before);
    }
    const [found = 0, asksModel, foundAgain] = rows;
    // The replay client's position is one row more.
    expect(asksModel).toBe(found + 3);
    expect(foundAgain).toBe(found);
  });

  test("are limited to the number of the store", async () => {
    const model = new ScriptedChatCompletionClient(["1", "2", "3", "4"]);
    const cache = new ChatCompletionCache(model, new InMemoryStore({ maxEntries: 2 }));
    let task = "";
    const team = await scriptedTeam(async (ctx) => {
      const { content } = await callModel(ctx, "model:0", cache, asked(task));
      return content as string;
    });
    const seen: unknown[] = [];
    for (task of ["a", "b", "c", "b", "a"]) seen.push(await answer(team, task));
    expect(seen).toEqual(["1", "2", "3", "2", "4"]);
    expect(await entries(team)).toBe(2);
  });
});

describe("a step that sets a cache entry", () => {
  test("keeps nothing while it has no result", async () => {
    const reached = new Signal();
    let attempts = 0;
    const team = await scriptedTeam((ctx) =>
      ctx.step("step", async ({ cache }) => {
        cache?.set("key", `attempt ${++attempts}`, 10);
        reached.set();
        // A promise that a test settles would keep the object alive.
        if (attempts === 1) await new Promise(() => {});
        return cache?.get("key") ?? "nothing yet";
      }),
    );
    const { id } = await team.start("go");
    await reached.wait();
    await team.evict();
    expect(await entries(team)).toBe(0);
    expect(texts(await team.finished(id)).at(-1)).toBe("nothing yet");
    expect(await team.sql("select key, value from cache")).toEqual([
      { key: "key", value: "attempt 2" },
    ]);
  });

  test.each([
    { when: "in the step", inside: true },
    { when: "right after it", inside: false },
  ])("leaves result and entry, or neither, when its object dies $when", async ({ inside }) => {
    let die = (): void => {};
    let lives = 0;
    const team = await scriptedTeam(async (ctx) => {
      const life = ++lives;
      if (life === 2) await new Promise(() => {});
      // So that the run is accepted by then.
      await ctx.step("wait", () => scheduler.wait(10).then(() => null));
      const result = await ctx.step("step", ({ cache }) => {
        cache?.set("key", "value", 10);
        if (life === 1 && inside) die();
        return Promise.resolve("result");
      });
      if (life === 1) die();
      return result;
    });
    await runInDurableObject(team.stub, (_instance, state) => {
      die = () => state.abort("the test says so");
    });
    const { id } = await team.start("go");
    // It comes back with a request after its death.
    await vi.waitUntil(async () => {
      await team.run(id).catch(() => undefined);
      return lives === 2;
    }, PATIENCE);
    const steps = await team.sql("select * from step where key = 'self/step'");
    expect(await entries(team)).toBe(steps.length);
    await team.evict();
    expect(texts(await team.finished(id)).at(-1)).toBe("result");
    expect(await entries(team)).toBe(1);
  });

  test("keeps nothing of a step that failed", async () => {
    const team = await scriptedTeam((ctx) =>
      ctx.step("step", ({ cache }) => {
        cache?.set("key", "value", 10);
        return Promise.reject(new Error("broken"));
      }),
    );
    const run = await team.finished((await team.start("go")).id);
    expect(run.status).toBe("failed");
    expect(await entries(team)).toBe(0);
  });
});

test("a retry asks the model again, and the new answer is kept", async () => {
  const model = new ScriptedChatCompletionClient(["bad", "good"]);
  const cache = new ChatCompletionCache(model);
  const team = await scriptedTeam(async (ctx) => {
    const { content } = await callModel(ctx, "model:0", cache, asked("x"));
    if (content === "bad") throw new Error("cannot be used");
    return content as string;
  });
  const failed = await team.finished((await team.start("go")).id);
  expect(failed.status).toBe("failed");
  const retry = value(await team.gateway.retryRun(failed.id));
  expect(texts(await team.finished(retry.id)).at(-1)).toBe("good");
  expect(await answer(team, "go")).toBe("good");
  model.assertDone();
});
