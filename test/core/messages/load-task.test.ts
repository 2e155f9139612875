import { describe, expect, test } from "vitest";
import { TaskError } from "troupe";
import { loadTask } from "#core/messages/load-task.ts";
import { testOrigin } from "./origin.ts";

const hello = { type: "TextMessage", source: "ann", content: "hello" };

describe("a task that starts a run", () => {
  test("may be null, which continues without a task", () => {
    expect(loadTask(null, testOrigin())).toBeNull();
  });

  test("may be a text, a message of the user", () => {
    expect(loadTask("hi", testOrigin())).toMatchObject([
      { id: "id-0", type: "TextMessage", source: "user", content: "hi" },
    ]);
  });

  test("may be a message or a list of them", () => {
    expect(loadTask(hello, testOrigin())).toMatchObject([hello]);
    const stop = { type: "StopMessage", source: "bob", content: "stop" };
    expect(loadTask([hello, stop], testOrigin())).toMatchObject([hello, stop]);
  });
});

describe("a value that starts no run is refused", () => {
  const refused: [string, unknown, string][] = [
    ["an empty list", [], "task"],
    ["a number", 5, "task"],
    ["nothing at all", undefined, "task"],
    ["a text in a list", ["hi"], "task[0]"],
    ["a list in a list", [[hello]], "task[0]"],
    ["an event", [hello, { type: "ThoughtEvent", source: "a", content: "hm" }], "task[1].type"],
    ["a malformed message", { type: "TextMessage", source: "a" }, "task.content"],
  ];
  test.each(refused)("%s", (_what, task, path) => {
    let thrown: unknown;
    try {
      loadTask(task, testOrigin());
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(TaskError);
    expect((thrown as TaskError).issues.map((issue) => issue.path)).toEqual([path]);
  });
});
