import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Example } from "../support/example.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { NpmStart } from "../support/npm-start.ts";
import { patternOf } from "../support/pages.ts";
import { freePort } from "../support/ports.ts";
import { testWith } from "../support/programs.ts";

// The folders of examples, by the commands of their READMEs.

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "troupe-examples-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function expectPromised(example: Example, output: string): void {
  for (const line of example.promised()) expect(output).toMatch(patternOf(line));
}

describe("examples without a model key", () => {
  let server: NpmStart;
  beforeAll(async () => {
    const persistTo = join(directory, "shared");
    server = await NpmStart.ready({ port: await freePort(), persistTo });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** A copy of an example that is started with `npm start` alone. */
  async function exampleOf(name: string): Promise<Example> {
    const example = await Example.copy(name);
    expect(example.commands(0)).toBe("npm start\n");
    return example;
  }

  test("rag-folder puts the documents and prints the answer with the parts that it cites", async () => {
    using example = await exampleOf("rag-folder");
    expectPromised(example, await example.start(1, server.url).end());
    // Again, with the same documents.
    expectPromised(example, await example.start(1, server.url).end());
  });

  test("scheduled-report schedules the report, and the first one reaches Slack", async () => {
    using example = await exampleOf("scheduled-report");
    await using slack = example.start(1, server.url);
    await slack.until(/appear here/);
    for (const _ of ["created", "changed"]) {
      const output = await example.start(2, server.url).end();
      expect(output).toMatch(/The next report is written at \d{4}-\d\d-\d\dT0[67]:00/);
    }
    for (const line of example.promised()) await slack.until(patternOf(line));
    await slack.until(/(New: 14 orders[^]*){2}/);
  });

  test("research-team calls the MCP server and answers", async () => {
    using example = await exampleOf("research-team");
    await using sources = example.start(1, server.url);
    await sources.until(/The sources are at/);
    expectPromised(example, await example.start(2, server.url).end());
  });
});

testWith("python3")(
  "studio-gallery moves the teams that load, and says why one does not",
  async () => {
    using example = await Example.copy("studio-gallery");
    await using server = await NpmStart.ready({
      port: await freePort(),
      persistTo: join(directory, "gallery"),
      sandbox: true,
      settings: { SANDBOX_ISOLATION: "process", SANDBOX_FORCE_PROCESS: "1" },
    });
    const output = await example.start(1, server.url).end();
    expectPromised(example, output);
    const teams = await fetch(`${server.url}/v1/teams`);
    expect(((await teams.json()) as { teams: object[] }).teams).toHaveLength(2);
  },
);

testWith("openssl")("desk answers each customer about their own orders", async () => {
  using example = await Example.copy("desk");
  await using openai = await startFakeOpenAI({
    rules: [
      {
        name: "ann",
        match: { role: "tool", text: "teapot" },
        reply: { content: "Your teapot was sent on Monday." },
      },
      {
        name: "bob",
        match: { role: "tool", text: "kettle" },
        reply: { content: "Your kettle waits for its lid." },
      },
      {
        name: "look up",
        match: { text: "Where is my order?" },
        reply: { tool_calls: [{ name: "my_orders", arguments: {} }] },
      },
      { name: "remember", match: {}, reply: { content: '{"facts": []}' } },
    ],
  });
  const [secret = "", start] = example.commands(0).split("\n");
  expect(start).toBe("OPENAI_API_KEY=sk-... npm start -- --config examples/desk/wrangler.toml");
  await example.start(secret).end();
  await using server = await NpmStart.ready({
    port: await freePort(),
    persistTo: join(directory, "desk"),
    args: ["--config", example.path("wrangler.toml")],
    settings: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: openai.url },
  });
  expectPromised(example, await example.start(1, server.url).end());
});
