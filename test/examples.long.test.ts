import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What each example prints. */
const OUTPUT: { readonly [file: string]: string } = {
  "writer-and-critic.ts": `---------- TextMessage (user) ----------
Write about the sea.
---------- ModelClientStreamingChunkEvent (writer) ----------
The sea is big and blue.
---------- TextMessage (critic) ----------
Too plain. Surprise me.
---------- ModelClientStreamingChunkEvent (writer) ----------
The sea keeps every footprint it erases.
---------- TextMessage (critic) ----------
APPROVE
Stopped: Text 'APPROVE' mentioned
`,
  "human-in-the-loop.ts": `---------- TextMessage (user) ----------
Plan a trip to Lisbon.
---------- TextMessage (guide) ----------
Three days in Lisbon, by train. Shall I book it?
(traveller is asked and says: no, I would rather sleep on the way)
---------- TextMessage (traveller) ----------
no, I would rather sleep on the way
---------- TextMessage (guide) ----------
Then by night train, four days. Shall I book it?
(traveller is asked and says: yes)
---------- TextMessage (traveller) ----------
yes
`,
  "custom-agent-and-tool.ts": `user says: What is 19 plus 23?
accountant ToolCallRequestEvent: [FunctionCall(id='1', name='add', arguments='{"a": 19, "b": 23}')]
accountant ToolCallExecutionEvent: [FunctionExecutionResult(content='42', name='add', call_id='1', is_error=False)]
accountant says: 42
herald says: 1. 42!
Stopped: Maximum number of turns 2 reached.
`,
};

describe("examples", () => {
  test.each(readdirSync(`${ROOT}/examples`).filter((file) => file.endsWith(".ts")))(
    "%s runs in plain Node and prints its expected output",
    async (file) => {
      const node = `${ROOT}/node_modules/.bin/node`;
      const { stdout } = await promisify(execFile)(node, [`${ROOT}/examples/${file}`]);
      expect(stdout).toBe(OUTPUT[file]);
    },
  );
});

test("the table of examples names each of them", () => {
  const page = readFileSync(`${ROOT}/examples/README.md`, "utf8");
  for (const name of readdirSync(`${ROOT}/examples`)) {
    if (name !== "README.md" && name !== "support") expect(page).toContain(`| [${name}](`);
  }
});

test("wrangler accepts the Worker of the containers and its configuration", async () => {
  const config = "sandbox/cloudflare/wrangler.toml";
  const { stdout } = await promisify(execFile)(
    `${ROOT}/node_modules/.bin/wrangler`,
    ["deploy", "--dry-run", "--containers-rollout=none", "--config", config],
    { cwd: ROOT, env: { ...process.env, WRANGLER_SEND_METRICS: "false" } },
  );
  expect(stdout).toContain("env.CONTAINERS (SandboxContainer)");
  expect(stdout).toContain("--dry-run: exiting now");
});
