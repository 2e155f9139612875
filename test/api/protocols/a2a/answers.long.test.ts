// What an agent of one's own answers, in the forms that the A2A kit asks for: its agent, without the kit.
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestWorker } from "../../../support/worker.ts";
import { newTeam } from "../support/teams.ts";
import { post, request, sent } from "./support/rpc.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({}, { entry: "test/suites/worker/kit-agent.ts" });
  const component = { provider: "test.KitAgent", component_type: "agent", config: { name: "kit" } };
  await newTeam(worker, { id: "kit", component });
});

afterAll(() => worker[Symbol.asyncDispose]());

test.for([
  ["text", { text: "Generated text content", mediaType: "text/plain" }],
  ["data", { data: { key: "value", count: 42 }, mediaType: "application/json" }],
  ["file", { raw: btoa("Generated"), filename: "output.txt", mediaType: "text/plain" }],
] as const)("%s is the part of the artifact", async ([kind, part]) => {
  const message = sent("Make it.", { messageId: `tck-artifact-${kind}` });
  const { body } = await post(worker, "kit", request("SendMessage", message));
  expect(body.result).toMatchObject({
    task: {
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ artifactId: "answer", parts: [part] }],
    },
  });
  const { task } = body.result as { task: { id: string; contextId: string } };
  const listed = request("ListTasks", { contextId: task.contextId, includeArtifacts: true });
  expect((await post(worker, "kit", listed)).body.result).toMatchObject({
    tasks: [{ id: task.id, artifacts: [{ parts: [part] }] }],
  });
});
