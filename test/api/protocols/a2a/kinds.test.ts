import { afterAll, beforeAll, expect, test } from "vitest";
import { careful } from "../../../../console/test/support/components.ts";
import { TestWorker } from "../../../support/worker.ts";
import { HUMAN, inTurn, newTeam } from "../support/teams.ts";
import {
  answerText,
  clientOf,
  collect,
  dataPart,
  message,
  send,
  sending,
  stateOf,
  textOf,
} from "./support/client.ts";

const SANDBOX = "https://sandbox.example.com";

let worker: TestWorker;
let files: { path: string; size: number; modified_at: string }[] | undefined = [];
let count = 0;

beforeAll(async () => {
  worker = await TestWorker.start(
    { SANDBOX_URL: SANDBOX },
    { outgoing: () => (files ? Response.json({ files }) : new Response(null, { status: 500 })) },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

async function team(component: unknown): Promise<string> {
  const id = `kinds${++count}`;
  await newTeam(worker, { id, component });
  return id;
}

test.each([
  ["yes", "Yes.", "42"],
  ["no", "no", "not approved"],
  ["another call", [dataPart({ approved: true, arguments: { expression: "2 + 3" } })], "5"],
  ["no, and why", [dataPart({ approved: false, reason: "Too dear." })], "Too dear."],
])("a tool that needs approval is reported, and answered with %s", async (_, given, said) => {
  const id = await team(careful());
  const client = await clientOf(worker, id);
  const events = await collect(client.sendMessageStream(sending("What is 6 * 7?")));
  const asked = events.at(-1);
  if (asked?.$case !== "statusUpdate") throw new Error("nothing was asked");
  expect(stateOf(asked.value)).toBe("TASK_STATE_INPUT_REQUIRED");
  const [text, data] = asked.value.status!.message!.parts;
  expect(textOf([text!])).toContain('calculator({"expression":"6 * 7"})');
  const question = data!.content!.value as { request_id: string };
  expect(question).toMatchObject({
    kind: "approval",
    source: "clerk",
    tool_call: { name: "calculator", arguments: { expression: "6 * 7" } },
  });
  const { taskId } = asked.value;
  await expect(send(client, message("Perhaps.", { taskId }))).rejects.toMatchObject({
    name: "RequestMalformedError",
  });
  const parts =
    typeof given === "string"
      ? given
      : given.map(({ content }) =>
          dataPart({ request_id: question.request_id, ...(content!.value as object) }),
        );
  const answered = await collect(client.sendMessageStream(sending(message(parts, { taskId }))));
  expect(stateOf(answered.at(-1)!.value as never)).toBe("TASK_STATE_COMPLETED");
  const happened = answered.flatMap((event) =>
    event.$case === "statusUpdate" && event.value.metadata?.["troupe/event"]
      ? [event.value.metadata["troupe/event"].type as string]
      : [],
  );
  expect(happened).toContain("ToolCallExecutionEvent");
  const task = await client.getTask({ tenant: "", id: taskId });
  expect(answerText(task)).toContain(said);
  const late = message([dataPart({ request_id: question.request_id, approved: true })], { taskId });
  await expect(send(client, late)).rejects.toMatchObject({ name: "UnsupportedOperationError" });
});

test("an answer names a question that is open", async () => {
  const client = await clientOf(worker, await team(inTurn(HUMAN)));
  const { id: taskId } = await send(client, "Ask.");
  const wrong = message([dataPart({ request_id: "none", content: "x" })], { taskId });
  await expect(send(client, wrong)).rejects.toThrow("must be of an open question");
  const other = message("Lisbon", { taskId, contextId: "other" });
  await expect(send(client, other)).rejects.toThrow("contextId");
});

test("files that the task wrote are artifacts, which the credential can fetch", async () => {
  const id = await team(inTurn(HUMAN, careful()));
  const client = await clientOf(worker, id);
  const { id: taskId, contextId } = await send(client, "Ask.");
  files = [
    { path: "old.txt", size: 1, modified_at: "2026-01-02T03:04:05.000Z" },
    { path: "out/a report.csv", size: 1, modified_at: new Date().toISOString() },
  ];
  await send(client, message("Lisbon", { taskId }));
  const task = await send(client, message("yes", { taskId }));
  expect(task.artifacts.slice(1)).toMatchObject([
    {
      artifactId: "file:out/a report.csv",
      parts: [
        {
          content: {
            $case: "url",
            value: `${await worker.origin}/v1/teams/${contextId}/files/out/a%20report.csv`,
          },
          filename: "a report.csv",
          mediaType: "text/csv; charset=utf-8",
        },
      ],
    },
  ]);
  files = undefined;
  const without = await client.getTask({ tenant: "", id: taskId });
  expect(without.artifacts).toHaveLength(1);
  expect(without.metadata).toMatchObject({ "troupe/files_error": "sandbox_unavailable" });
});
