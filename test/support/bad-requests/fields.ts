import { type BadRequest, TEAM, RUNS, RUN } from "./row.ts";

/** Fields of the bodies. */
export const fields: readonly BadRequest[] = [
  ...["null", "[]", '"text"', "7", "true"].map((raw) => ({
    name: `a run that is ${raw}`,
    path: RUNS,
    raw,
    status: 422,
    code: "invalid_request",
  })),
  ...Object.entries({
    "an unknown field": [{ task: "a", model: "gpt" }, "model"],
    "output_task_messages as text": [{ output_task_messages: "yes" }, "output_task_messages"],
    "on_conflict that waits": [{ on_conflict: "queue" }, "on_conflict"],
    "on_conflict that is unknown": [{ on_conflict: "replace" }, "on_conflict"],
    "no time": [{ timeout_seconds: 0 }, "timeout_seconds"],
    "negative time": [{ timeout_seconds: -5 }, "timeout_seconds"],
    "endless time": [{ timeout_seconds: 1e12 }, "timeout_seconds"],
    "time as text": [{ timeout_seconds: "60" }, "timeout_seconds"],
    "half a token": [{ max_total_tokens: 0.5 }, "max_total_tokens"],
    "metadata as list": [{ metadata: [] }, "metadata"],
    "large metadata": [{ metadata: { text: "a".repeat(17_000) } }, "metadata"],
  } as Record<string, [unknown, string]>).map(([name, [json, path]]) => ({
    name,
    path: RUNS,
    json,
    status: 422,
    code: "invalid_request",
    errors: [path],
  })),
  ...Object.entries({
    "no message": [[], "task"],
    "an unknown type": [{ type: "TextMesage", source: "user", content: "a" }, "task.type"],
    "an unknown type in a list": [
      [
        { type: "TextMessage", source: "user", content: "a" },
        { type: "Nope", source: "user", content: "a" },
      ],
      "task[1].type",
    ],
    "a number": [7, "task"],
    "a message without type": [{ source: "user", content: "a" }, "task.type"],
    "a message without source": [{ type: "TextMessage", content: "a" }, "task.source"],
    "a message without content": [{ type: "TextMessage", source: "user" }, "task.content"],
    "a message with wrong content": [
      [{ type: "TextMessage", source: "user", content: { a: 1 } }],
      "task[0].content",
    ],
    "a message with an unknown field": [
      { type: "TextMessage", source: "user", content: "a", colour: "red" },
      "task.colour",
    ],
    "an event": [{ type: "ThoughtEvent", source: "user", content: "a" }, "task.type"],
    "a list in a list": [[[]], "task[0]"],
    "a null in a list": [[{ type: "TextMessage", source: "u", content: "a" }, null], "task[1]"],
    "a picture that is a number": [
      { type: "MultiModalMessage", source: "user", content: [1] },
      "task.content[0]",
    ],
    "a large message": ["a".repeat(600_000), "task"],
    "many messages": [
      Array.from({ length: 501 }, () => ({ type: "TextMessage", source: "u", content: "a" })),
      "task",
    ],
  } as Record<string, [unknown, string]>).map(([name, [task, path]]) => ({
    name: `a task of ${name}`,
    path: RUNS,
    json: { task },
    status: 422,
    code: "invalid_task",
    errors: [path],
  })),
  ...[{}, { mode: "later" }, { mode: "now", force: true }].map((json) => ({
    name: `stop with ${JSON.stringify(json)}`,
    path: `${RUN}/stop`,
    json,
    status: 422,
    code: "invalid_request",
  })),
  ...[{}, { content: "a", approved: true }, { approved: "yes" }, { approved: true, why: "" }].map(
    (json) => ({
      name: `answer with ${JSON.stringify(json)}`,
      path: `${RUN}/requests/q1`,
      json,
      status: 422,
      code: "invalid_request",
    }),
  ),
  ...[7, null, [], { type: "TextMessage" }, { type: "ThoughtEvent", source: "u", content: "" }].map(
    (content) => ({
      name: `answer with the content ${JSON.stringify(content)}`,
      path: `${RUN}/requests/q1`,
      json: { content },
      status: 422,
      code: "invalid_answer",
    }),
  ),
  {
    name: "reset with arguments",
    path: `${TEAM}/reset`,
    json: { hard: true },
    status: 422,
    code: "invalid_request",
  },
  ...["[]", "null", '"state"', "1"].map((raw) => ({
    name: `a state that is ${raw}`,
    method: "PUT",
    path: `${TEAM}/state`,
    raw,
    status: 422,
    code: "invalid_request",
  })),
];
