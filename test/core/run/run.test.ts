import { describe, expect, test } from "vitest";
import type { Answer, TextMessage } from "troupe";
import { RoundRobinGroupChat, reset, run, runStream, type Task } from "troupe";
import { lines, ORIGIN, speaker, TestAgent, text } from "../support/agents.ts";

describe("a single agent", () => {
  test("gets the task and answers once", async () => {
    const ann = new TestAgent("ann");
    const result = await run(ann, { task: "go" });
    expect(lines(result.messages)).toEqual(["user: go", "ann: ann1"]);
    expect(result.stop_reason).toBeNull();
    expect(ann.heard).toEqual([["go"]]);
  });

  test("receives nothing new without a task", async () => {
    const ann = new TestAgent("ann");
    expect(lines((await run(ann)).messages)).toEqual(["ann: ann1"]);
    expect(ann.heard).toEqual([[]]);
  });

  test("is reset like a team", async () => {
    const ann = new TestAgent("ann");
    await run(ann);
    await reset(ann);
    expect(ann.calls).toEqual(["reset"]);
    expect(lines((await run(ann)).messages)).toEqual(["ann: ann1"]);
  });
});

describe("a task", () => {
  test("may be a message or several, which keep their ids", async () => {
    const one = text("boss", "one", ORIGIN);
    const two: Partial<TextMessage> & { type: "TextMessage"; source: string } = {
      type: "TextMessage",
      source: "boss",
      content: "two",
    };
    const { messages } = await run(new TestAgent("ann"), { task: [one, two] });
    expect(messages[0]).toEqual(one);
    expect(messages[1]?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines(messages)).toEqual(["boss: one", "boss: two", "ann: ann1"]);
  });

  test.each<[unknown, string]>([
    [[], "task"],
    [{ type: "ThoughtEvent", source: "x" }, "task.content"],
    [[{ type: "TextMessage", source: "x" }], "task[0].content"],
  ])("that is not acceptable is refused: %j", async (task, path) => {
    const refused = run(new TestAgent("ann"), { task: task as Task });
    await expect(refused).rejects.toMatchObject({ code: "invalid_task", issues: [{ path }] });
  });
});

describe("a run that does not finish", () => {
  /** bob speaks second, and not before he is allowed to. */
  function table() {
    let failures = 0;
    const ann = new TestAgent("ann");
    const bob = speaker("bob", () => {
      if (failures-- > 0) throw new Error("bob is ill");
      return "bob speaks";
    });
    const team = new RoundRobinGroupChat([ann, bob], { maxTurns: 2 });
    const fail = (times: number): void => {
      failures = times;
    };
    return { team, ann, bob, fail };
  }

  test("leaves the team at its last finished turn when it fails", async () => {
    const { team, bob, fail } = table();
    fail(1);
    const seen: string[] = [];
    const running = (async () => {
      for await (const item of runStream(team, { task: "go" })) {
        if (item.type !== "TaskResult") seen.push(item.source);
      }
    })();
    await expect(running).rejects.toThrow("bob is ill");
    expect(seen).toEqual(["user", "ann"]);
    const { messages } = await run(team);
    expect(lines(messages)).toEqual(["bob: bob speaks"]);
    expect(bob.heard).toEqual([
      ["go", "ann1"],
      ["go", "ann1"],
    ]);
  });

  test("is cancelled by its signal, between turns at the latest", async () => {
    const { team } = table();
    const controller = new AbortController();
    const seen: string[] = [];
    const running = (async () => {
      for await (const item of runStream(team, { task: "go", signal: controller.signal })) {
        if (item.type === "TaskResult") return;
        seen.push(item.source);
        if (item.source === "ann") controller.abort();
      }
    })();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    expect(seen).toEqual(["user", "ann"]);
    // Both turns of the team: those of the cancelled run are over.
    expect(lines((await run(team)).messages)).toEqual(["bob: bob speaks", "ann: ann2"]);
  });

  test("counts as ended when its consumer leaves it", async () => {
    const { team } = table();
    for await (const item of runStream(team, { task: "go" })) {
      if (item.type !== "TaskResult" && item.source === "ann") break;
    }
    expect(lines((await run(team)).messages)).toHaveLength(2);
  });

  test("is cancelled in the middle of a step, which is thrown away", async () => {
    const controller = new AbortController();
    const ann = new TestAgent("ann");
    const stuck = speaker("stuck", (_heard, ctx) =>
      ctx.step("wait", ({ signal }) => {
        controller.abort();
        return signal.aborted
          ? Promise.reject(new Error("connection closed"))
          : Promise.resolve("");
      }),
    );
    const team = new RoundRobinGroupChat([ann, stuck], { maxTurns: 2 });
    const before = ann.saveState();
    const cancelled = run(team, { task: "go", signal: controller.signal });
    await expect(cancelled).rejects.toMatchObject({ name: "AbortError" });
    expect(ann.saveState()).not.toEqual(before);
    expect(stuck.heard).toHaveLength(1);
  });

  test("leaves the team usable when its consumer leaves", async () => {
    const { team, ann } = table();
    for await (const item of runStream(team, { task: "go" })) {
      if (item.type !== "TaskResult" && item.source === "ann") break;
    }
    expect(ann.saveState()).toEqual({ replies: 0 });
    expect(lines((await run(team)).messages)).toEqual(["ann: ann1", "bob: bob speaks"]);
  });
});

test("a second run and a reset are refused while one is running", async () => {
  const team = new RoundRobinGroupChat([new TestAgent("ann")], { maxTurns: 1 });
  const running = runStream(team, { task: "go" });
  await running.next();
  const busy = { code: "already_running" };
  await expect(run(team)).rejects.toMatchObject(busy);
  await expect(reset(team)).rejects.toMatchObject(busy);
  await running.return();
  await expect(run(team)).resolves.toMatchObject({ stop_reason: expect.any(String) });
});

describe("a question to a human", () => {
  const asking = () =>
    speaker("proxy", async (_heard, ctx) => {
      const answer = await ctx.ask({
        id: ctx.id(),
        kind: "input",
        source: "proxy",
        prompt: "Your turn:",
      });
      return "content" in answer ? JSON.stringify(answer.content) : "";
    });

  test("is answered by the function that is named for it", async () => {
    const prompts: string[] = [];
    const { messages } = await run(asking(), {
      task: "go",
      answer: ({ prompt }) => {
        prompts.push(prompt);
        return Promise.resolve({ content: "fine" });
      },
    });
    expect(prompts).toEqual(["Your turn:"]);
    expect(lines(messages)).toEqual(["user: go", 'proxy: "fine"']);
  });

  test("fails the run without an answer", async () => {
    await expect(run(asking(), { task: "go" })).rejects.toThrow(/has no answer function/);
  });

  test("does not keep a cancelled run from ending", async () => {
    const controller = new AbortController();
    const running = run(asking(), {
      task: "go",
      signal: controller.signal,
      answer: () => {
        controller.abort();
        return new Promise<Answer>(() => {});
      },
    });
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
  });
});
