import { expect, test } from "vitest";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { pdfOf } from "../support/pdf.ts";
import { TestWorker } from "../support/worker.ts";

const SETTINGS = { SECRETS_KEY: btoa("k".repeat(32)) };

const fileOf = (bytes: Buffer) => ({
  data: bytes.toString("base64"),
  name: "lease.pdf",
  media_type: "application/pdf",
});
const said = (...content: unknown[]) => ({ type: "MultiModalMessage", source: "user", content });

interface Asked {
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

async function newTeam(worker: Asked, base_url: string, model: string): Promise<string> {
  const component = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "reader",
      description: "reads",
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model, api_key: "key", base_url },
      },
    },
  };
  const response = await worker.fetch("/v1/teams", jsonInit({ component }));
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

const run = (worker: Asked, team: string, task: unknown): Promise<Response> =>
  worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));

test("a Worker that imports troupe/documents reads PDF for models that do not", async () => {
  const models = await startFakeOpenAI({ rules: [{ name: "say", reply: { content: "Read." } }] });
  await using worker = await TestWorker.start(SETTINGS, {
    entry: "test/e2e/worker/documents.ts",
    // PDF.js searches a broken file for its parts.
    quietAbout: "Indexing all PDF objects",
  });
  try {
    const team = await newTeam(worker, models.url, "deepseek-chat");
    const file = fileOf(pdfOf("The rent is 900 euros.", "Signed in Berlin."));
    expect(await (await run(worker, team, said(file))).json()).toMatchObject({
      status: "completed",
    });
    const { messages } = models.requests.at(-1)!.body as { messages: { content: string }[] };
    expect(messages.at(-1)?.content).toBe(
      '<file name="lease.pdf" type="application/pdf">\nThe rent is 900 euros.\n\nSigned in Berlin.\n</file>',
    );
    for (const bytes of [Buffer.from("%PDF-1.7 and no more"), pdfOf("")]) {
      const refused = await run(worker, team, said(fileOf(bytes)));
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({
        code: "unreadable_document",
        errors: [{ path: "task.content[0]" }],
      });
    }
  } finally {
    await models.close();
  }
});

test("files outlive kill -9 in the middle of the model's call", async () => {
  const models = await startFakeOpenAI({ rules: [{ name: "say", reply: { content: "Read." } }] });
  await using worker = await KillableWorker.start(SETTINGS);
  try {
    const team = await newTeam(worker, models.url, "gpt-4o");
    const file = fileOf(pdfOf("The rent is 900 euros."));
    models.rules.hold("say");
    const started = await worker.fetch(
      `/v1/teams/${team}/runs`,
      jsonInit({ task: said("Read.", file) }),
    );
    const { id } = (await started.json()) as { id: string };
    await expect.poll(() => models.requests.length).toBe(1);
    await worker.kill();
    models.rules.release("say");
    await worker.restart();
    const ended = async (): Promise<unknown> =>
      ((await (await worker.fetch(`/v1/teams/${team}/runs/${id}`)).json()) as { status: unknown })
        .status;
    await expect.poll(ended).toBe("completed");
    const [first, last] = [models.requests[0], models.requests.at(-1)].map(
      (request) => (request!.body as { messages: unknown }).messages,
    );
    expect(models.requests.length).toBeGreaterThan(1);
    expect(last).toEqual(first);
    expect(JSON.stringify(last)).toContain(file.data);
    const page = await worker.fetch(`/v1/teams/${team}/messages`);
    expect(await page.json()).toMatchObject({ messages: [{ content: ["Read.", file] }, {}] });
  } finally {
    await models.close();
  }
});
