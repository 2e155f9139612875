import { expect, test } from "vitest";
import { server } from "./support/shared-server.ts";

test("code that runs in the sandbox reads and writes the files of its team", async () => {
  const component = {
    provider: "CodeExecutorAgent",
    config: { name: "runner", code_executor: { provider: "SandboxCodeExecutor", config: {} } },
  };
  await server.json("/v1/teams", { id: "files", component });
  const file = (name: string, init?: RequestInit): Promise<Response> =>
    server.fetch(`/v1/teams/files/files/${name}`, init);
  const written = await file("name.txt", { method: "PUT", body: "Ada" });
  expect(written.status, await written.text()).toBeLessThan(300);
  const run = await server.json("/v1/teams/files/runs?wait=60", {
    task: "```sh\nread name < name.txt; echo Hello, $name. > greeting.txt; cat greeting.txt\n```",
  });
  expect(run).toMatchObject({
    status: "completed",
    result: { messages: [{}, { content: "Hello, Ada.\n" }] },
  });
  expect(await (await file("greeting.txt")).text()).toBe("Hello, Ada.\n");
  expect((await file("greeting.txt", { method: "DELETE" })).status).toBe(204);
  const { files } = await server.json<{ files: { path: string }[] }>("/v1/teams/files/files");
  expect(files.map(({ path }) => path)).toEqual(["name.txt"]);
});
