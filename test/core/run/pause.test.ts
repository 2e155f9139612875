import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  MessageFilterAgent,
  pause,
  resume,
  RoundRobinGroupChat,
  run,
  TimeoutTermination,
} from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";
import { lines, TestAgent } from "../support/agents.ts";

/** A model whose first answer waits until it is let go. */
function slowModel() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const first = async (): Promise<string> => {
    asked.resolve();
    return answer.promise;
  };
  const modelClient = new ScriptedChatCompletionClient([first, "Two."]);
  return { modelClient, asked: asked.promise, letGo: () => answer.resolve("One.") };
}

/** ann answers with a slow model, then bob, who records his hooks. */
function table() {
  const model = slowModel();
  const ann = new AssistantAgent({ name: "ann", modelClient: model.modelClient });
  const bob = new TestAgent("bob");
  const team = new RoundRobinGroupChat([ann, bob], { maxTurns: 3 });
  return { ...model, bob, team };
}

describe("a paused team", () => {
  test("finishes the step that is running, begins no other one, and continues when it is resumed", async () => {
    const { team, bob, modelClient, asked, letGo } = table();
    const heard: string[] = [];
    const running = (async () => {
      for await (const item of team.runStream("Go.")) {
        if (item.type !== "TaskResult") heard.push(item.source);
      }
    })();
    await asked;
    await team.pause();
    expect(bob.calls).toEqual(["pause"]);
    letGo();
    await expect.poll(() => heard).toEqual(["user", "ann"]);
    await idle();
    expect(bob.heard).toEqual([]);
    await team.resume();
    await running;
    expect(heard).toEqual(["user", "ann", "bob", "ann"]);
    expect(bob.calls).toEqual(["pause", "resume"]);
    expect(modelClient.requests).toHaveLength(2);
  });

  test("calls the hooks once per pause, also those of agents inside of others", async () => {
    const { modelClient, asked, letGo } = slowModel();
    const inner = new TestAgent("inner");
    const team = new RoundRobinGroupChat(
      [
        new AssistantAgent({ name: "ann", modelClient }),
        new MessageFilterAgent({
          name: "filter",
          wrappedAgent: inner,
          filter: { perSource: [{ source: "user" }] },
        }),
      ],
      { maxTurns: 2 },
    );
    const running = team.run("Go.");
    await asked;
    await Promise.all([team.pause(), team.pause()]);
    await team.pause();
    await Promise.all([team.resume(), team.resume()]);
    letGo();
    await running;
    expect(inner.calls).toEqual(["pause", "resume"]);
  });

  test("can be cancelled, and its agents are resumed", async () => {
    const { team, bob, asked, letGo } = table();
    const controller = new AbortController();
    const running = team.run({ task: "Go.", signal: controller.signal });
    await asked;
    await team.pause();
    letGo();
    await idle();
    controller.abort();
    await expect(running).rejects.toThrow(/aborted/);
    expect(bob.calls).toEqual(["pause", "resume"]);
    await expect(team.resume()).rejects.toMatchObject({ code: "not_running" });
  });

  test("does not count the pause as running time", async () => {
    const { modelClient, asked, letGo } = slowModel();
    const ann = new AssistantAgent({ name: "ann", modelClient });
    const team = new RoundRobinGroupChat([ann], {
      maxTurns: 2,
      terminationCondition: new TimeoutTermination(0.2),
    });
    const running = team.run("Go.");
    await asked;
    await team.pause();
    letGo();
    const until = Date.now() + 250;
    await expect.poll(() => Date.now() > until).toBe(true);
    await team.resume();
    const { messages, stop_reason } = await running;
    expect(stop_reason).toMatch(/Maximum number of turns 2/);
    expect(lines(messages).at(-1)).toBe("ann: Two.");
  });
});

test("a single agent is paused, too", async () => {
  const { modelClient, asked, letGo } = slowModel();
  const ann = new AssistantAgent({ name: "ann", modelClient });
  const running = run(ann, "Go.");
  await asked;
  await pause(ann);
  letGo();
  await resume(ann);
  expect((await running).text).toBe("One.");
});

test("a run that is not active cannot be paused", async () => {
  const { team } = table();
  const refused = {
    code: "not_running",
    message: '"RoundRobinGroupChat" has no run under way that could be paused or resumed',
  };
  await expect(team.pause()).rejects.toMatchObject(refused);
  await expect(team.resume()).rejects.toMatchObject(refused);
});

/** Resolves when everything that could continue has done so. */
async function idle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setTimeout(resolve, 0));
}
