import OpenAI from "openai";
import { beforeAll, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { server } from "./support/shared-server.ts";

let openai: OpenAI;

beforeAll(async () => {
  openai = new OpenAI({ baseURL: `${server.origin}/openai/v1`, apiKey: "none", maxRetries: 0 });
  await server.json("/v1/teams", { id: "openai", component: SAMPLE_COMPONENT });
});

test("OpenAI's client has chats with a team", async () => {
  const models = await openai.models.list();
  expect(models.data.map(({ id }) => id)).toContain("team:openai");
  const stream = openai.chat.completions.stream({
    model: "team:openai",
    messages: [{ role: "user", content: "Hello." }],
  });
  expect(await stream.finalContent()).toContain("two");
});

test("OpenAI's client gets responses of a team", async () => {
  const response = await openai.responses.create({ model: "team:openai", input: "Hello." });
  expect(response.status).toBe("completed");
  expect(response.output_text).not.toBe("");
  expect(await openai.responses.retrieve(response.id)).toMatchObject({ id: response.id });
});
