import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { testWith } from "../support/programs.ts";
import { file, patternOf, read, snippet, Workplace } from "../support/pages.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

let port: number;
let persistTo: string;

beforeEach(async () => {
  port = await freePort();
  persistTo = mkdtempSync(join(tmpdir(), "troupe-docs-"));
});

afterEach(() => rmSync(persistTo, { recursive: true, force: true }));

/** Runs a snippet of the README as it stands there, but for the port and what is to be filled in. */
async function shell(
  heading: string,
  index = 0,
  values: Record<string, string> = {},
): Promise<string> {
  const filled = Object.entries(values).reduce(
    (code, [name, value]) => code.replaceAll(`<${name}>`, value),
    snippet(heading, "sh", index).replaceAll("127.0.0.1:8787", `127.0.0.1:${port}`),
  );
  expect(filled).not.toMatch(/<\w+>/);
  const { stdout } = await place.execute("sh", ["-c", filled]);
  return stdout;
}

testWith("curl")("the commands of the README have the effects that it describes", async () => {
  await using openai = await startFakeOpenAI({
    rules: [{ name: "rhyme", match: {}, reply: { content: "A rhyme in time." } }],
  });
  const settings = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: openai.url };
  await using first = await NpmStart.ready({ port, persistTo, settings, sandbox: true });

  const watch = "Create a team and watch a run";
  const watched = await shell(watch);
  for (const line of snippet(watch, "text").split("\n")) {
    expect(watched).toMatch(patternOf(line));
  }

  expect(lastText(lastJson<RunInfo>(await shell("Code over HTTP")))).toBe("5050\n");

  const files = await shell("Files");
  expect(files).toContain('{"path":"total.txt","size":2,');
  expect(files.endsWith("42")).toBe(true);

  const wait = "Answer a run that waits for you";
  const waiting = lastJson<RunInfo>(await shell(wait));
  expect(waiting.status).toBe("waiting");
  const trip = { run: waiting.id, request: waiting.requests[0]?.id ?? "" };
  expect(lastJson<RunInfo>(await shell(wait, 1, trip)).id).toBe(trip.run);
  const events = await fetch(`${first.url}/v1/teams/trip/runs/${trip.run}/events`, {
    headers: { "last-event-id": "3" },
  });
  const rest = await firstText(events, "Later in the day, please.");
  expect(rest).not.toMatch(/^id: 3$/m);

  const kill = "Kill it";
  const killed = lastJson<RunInfo>(await shell(kill, 0, { pid: first.pid }));
  expect(killed.status).toBe("running");
  await first.exit();
  await using second = await NpmStart.ready({ port, persistTo, settings, sandbox: true });
  const after = await fetch(`${second.url}/v1/teams/story/runs/${killed.id}/events`);
  const ended = await after.text();
  expect(ended).toContain('"status":"completed"');
  expect(ended.trimEnd().split("\n").at(-1)).toContain('"type":"TaskResult"');

  place.write("team.json", file("team.json"));
  const poets = lastJson<{ id: string }>(await shell("Bring a team from AutoGen"));
  expect(poets.id).toBe("poets");
  expect(await answerOf(second, "poets")).toBe("A rhyme in time.");
});

test("the files of docs/own-worker.md are a Worker of one's own", async () => {
  await using openai = await startFakeOpenAI({
    rules: [
      {
        name: "look",
        match: { role: "user" },
        reply: { tool_calls: [{ name: "opening_hours", arguments: { place: "Museum" } }] },
      },
      { name: "say", match: { role: "tool" }, reply: { content: "Until six. Do come in." } },
    ],
  });
  const paths = ["my-team/worker.ts", "my-team/shortener.ts", "my-team/wrangler.toml"];
  for (const path of paths) place.write(path, file(path));
  expect(read("docs/own-worker.md")).toContain("npm start -- --config my-team/wrangler.toml");
  await using server = await NpmStart.ready({
    port,
    persistTo,
    args: ["--config", join(place.folder, "my-team/wrangler.toml")],
    settings: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: openai.url },
  });
  await fetch(`${server.url}/v1/teams`, jsonInit({ id: "town", template: "town_guide" }));
  expect(await answerOf(server, "town")).toBe("Until six");
  expect(JSON.stringify(openai.requests.at(-1)?.body)).toContain("Museum: 10:00 to 18:00");
});

/** What a stream sends until it has sent this text. */
async function firstText({ body }: Response, wanted: string): Promise<string> {
  let text = "";
  for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes(wanted)) return text;
  }
  throw new Error(`the stream ended without ${wanted}`);
}

/** What a team answers in the end. */
async function answerOf({ url }: NpmStart, team: string): Promise<unknown> {
  const response = await fetch(
    `${url}/v1/teams/${team}/runs?wait=60`,
    jsonInit({ task: "Hello." }),
  );
  const run = (await response.json()) as RunInfo;
  expect(run).toMatchObject({ status: "completed", error: null });
  return lastText(run);
}

function lastText({ result }: RunInfo): unknown {
  const last = result?.messages.at(-1);
  return last && "content" in last ? last.content : undefined;
}

/** The last of several answers, which stand one behind the other without line breaks. */
function lastJson<T>(output: string): T {
  for (const { index } of output.matchAll(/\{"id":/g)) {
    try {
      return JSON.parse(output.slice(index)) as T;
    } catch {
      // Not the last one, or inside of it.
    }
  }
  throw new Error(`there is no JSON at the end of ${output}`);
}
