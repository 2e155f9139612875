// The page of a run in ext-apps' own bridge for hosts, with the official client of MCP.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BrowserContextOptions, FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildRunView, RUN_VIEW } from "../../../scripts/build/run-view.mjs";
import { bundlePage, HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { TestMcpServer } from "../../../test/components/mcp/support/test-server.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { careful, filling, speaker } from "../support/components.ts";
import { FIELDS } from "../support/questions.ts";
import { ConsoleStage } from "../support/stage.ts";

const MOST_BYTES = 150_000;
const HOST = join(import.meta.dirname, "../../../test/peers/app-host.js");

let stage: ConsoleStage;
let models: FakeOpenAI;
let server: TestMcpServer;
let script: string;

beforeAll(async () => {
  await buildRunView();
  if (!HAS_BROWSER) return;
  script = await bundlePage(HOST);
  models = await startFakeOpenAI({
    rules: [{ name: "turn", hold: true, reply: { content: "Slow, **but** sure." } }],
  });
  server = await TestMcpServer.start();
  stage = await ConsoleStage.start({ MCP_TEMPLATES: "none" });
});

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** The exchange between the page and its host. */
interface HostLog {
  calls: { name: string; arguments: Record<string, unknown> }[];
  links: string[];
  heights: number[];
  result?: { structuredContent?: { status: string; text: string } };
}

interface Shown {
  page: Page;
  /** The page of the tool. */
  view: FrameLocator;
  log: () => Promise<HostLog>;
  /** Requests of the page of the tool, and complaints of the browser. */
  wrong: string[];
}

const BLANK =
  '<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><style>body{margin:0}iframe{width:100%;border:0}</style><body>';

/** Opens a host that calls a tool and shows its page. */
async function show(call: object, context: BrowserContextOptions = {}): Promise<Shown> {
  const { page, complaints: wrong } = await stage.open("/healthz", context);
  await page.route("**/host", (route) => route.fulfill({ contentType: "text/html", body: BLANK }));
  await page.goto(`${stage.origin}/host`);
  wrong.length = 0;
  page.on("request", (request) => {
    if (request.frame() !== page.mainFrame()) wrong.push(request.url());
  });
  await page.addScriptTag({ content: script, type: "module" });
  await page.waitForFunction("'show' in globalThis");
  await page.evaluate(`show(${JSON.stringify(call)})`);
  const log = async () => page.evaluate<HostLog>("log");
  return { page, view: page.frameLocator("iframe"), log, wrong };
}

async function newTeam(label: string, component: object): Promise<string> {
  const { id } = await stage.client.teams.create({ label, component: component as never });
  return id;
}

test("the page of a run is one file below 150 KB", async () => {
  const html = await readFile(RUN_VIEW);
  expect(gzipSync(html, { level: 9 }).length).toBeLessThan(MOST_BYTES);
  const text = html.toString();
  expect(text).toContain("default-src 'none'");
  const around = text.replace(/<script type="module">[^]*<\/script>/, "");
  expect(around).toContain('<div id="root"></div>');
  expect(around).not.toMatch(/<(?:script|link|img)\b|\b(?:src|href)=|url\(/);
});

async function showsWhatIsSaid(label: string, call: object): Promise<void> {
  await newTeam(label, served(models.url));
  models.rules.hold("turn");
  const { view, log, wrong } = await show({
    name: `run_${label}`,
    arguments: { task: `Say **something** for ${label}.` },
    ...call,
  });
  await view.getByRole("log").getByText("something").waitFor();
  await view.locator(".status", { hasText: "Running" }).waitFor();
  await view.locator(".live").waitFor();
  models.release("turn");
  await view.locator(".body strong", { hasText: "but" }).waitFor();
  await view.locator(".status", { hasText: "Completed" }).waitFor();
  const { calls, result, heights } = await log();
  expect(result?.structuredContent).toMatchObject({
    status: "completed",
    text: "Slow, **but** sure.",
  });
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(["read_run"]));
  expect(heights.length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
}

testInBrowser("a host shows what a team says while its call waits, and the answer", () =>
  showsWhatIsSaid("Slow", {}),
);

testInBrowser("a host that does not name the tool shows its run, too", () =>
  showsWhatIsSaid("Nameless", { names: false, mode: "auto" }),
);

testInBrowser("a person approves a call with its arguments, and refuses another one", async () => {
  await newTeam("Careful", careful());
  const { view, log, wrong } = await show({
    name: "run_Careful",
    arguments: { task: "What is 6 * 7?" },
  });
  const approval = view.getByRole("group", { name: "Approval for clerk" });
  await approval.getByText("6 * 7").waitFor();
  await approval.getByText("calculator").waitFor();
  await approval.getByRole("button", { name: "Approve" }).click();
  await view.getByText("Approved.").waitFor();
  await view.getByRole("button", { name: "Undo" }).click();
  await approval.getByRole("button", { name: "Approve" }).click();
  await view.locator(".status", { hasText: "Completed" }).waitFor();
  await view.locator(".body", { hasText: "42" }).waitFor();
  const answers = (await log()).calls.filter(({ name }) => name === "answer_request");
  expect(answers).toMatchObject([{ arguments: { approved: true, wait_seconds: 0 } }]);

  const second = await show({ name: "run_Careful", arguments: { task: "Again: 6 * 7?" } });
  const again = second.view.getByRole("group", { name: "Approval for clerk" });
  await again.getByRole("button", { name: "Refuse" }).click();
  await again.getByLabel("Reason for the agent").fill("Not today.");
  await again.getByRole("button", { name: "Refuse" }).click();
  await second.page.evaluate("teardown()");
  await expect
    .poll(async () => (await second.log()).calls.findLast(({ name }) => name === "answer_request"))
    .toMatchObject({ arguments: { approved: false, reason: "Not today." } });
  await second.view.locator(".body", { hasText: "Not today." }).waitFor();
  expect([...wrong, ...second.wrong]).toEqual([]);
});

testInBrowser("a person fills in the form of a question", async () => {
  const { address: _, ...properties } = FIELDS.properties;
  const form = { ...FIELDS, properties };
  await newTeam("Asking", filling(server.params, form));
  const { view, log, wrong } = await show({ name: "run_Asking", arguments: { task: "Ask." } });
  const answer = view.getByRole("form", { name: "Answer clerk" });
  await answer.getByRole("button", { name: "Answer" }).click();
  await answer.getByText("is required").first().waitFor();
  await answer.getByLabel("Name").fill("Ann");
  await answer.getByLabel("Urgent").selectOption("Yes");
  await answer.getByLabel("Size").selectOption("Medium");
  await answer.getByLabel("Amount").fill("12.5");
  await answer.getByLabel("old").check();
  await answer.getByRole("button", { name: "Answer" }).click();
  await view.locator(".status", { hasText: "Completed" }).waitFor();
  const given = (await log()).calls.find(({ name }) => name === "answer_request")?.arguments;
  expect(JSON.parse(String(given?.["content"]))).toEqual({
    name: "Ann",
    urgent: true,
    size: "m",
    amount: 12.5,
    count: 3,
    tags: ["old"],
  });
  expect(wrong).toEqual([]);
});

testInBrowser("a person stops a run, and sees it from get_run, too", async () => {
  const id = await newTeam("Stopped", served(models.url));
  models.rules.hold("turn");
  const { id: run } = await stage.client.team(id).start("Wait.");
  const { view, wrong } = await show({
    name: "get_run",
    arguments: { team_id: id, run_id: run, wait_seconds: 1 },
    mode: "auto",
  });
  await view.getByRole("button", { name: "Stop" }).click();
  await view.locator(".status", { hasText: "Cancelled" }).waitFor();
  await view.getByText("The run was cancelled.").waitFor();
  models.release("turn");
  expect(wrong).toEqual([]);
});

testInBrowser(
  "a hostile message cannot act on the page, and links are opened by the host",
  async () => {
    const hostile = [
      "<script>parent.postMessage({jsonrpc:'2.0',id:999,method:'tools/call',params:{name:'stop_run'}},'*')</script>",
      "<img src=x onerror=\"fetch('https://evil.example')\"> ![x](https://evil.example/pixel.png)",
      "[click](javascript:alert(1)) [site](https://a.example/page) $x^2$",
      "```js\nlet a = 1;\n```",
    ].join("\n\n");
    await newTeam("Hostile", speaker([hostile]));
    const { view, log, wrong } = await show({ name: "run_Hostile", arguments: { task: "Go." } });
    await view.locator(".status", { hasText: "Completed" }).waitFor();
    await view.getByText("<script>").waitFor();
    await view.getByText("let a = 1;").waitFor();
    expect(await view.locator(".body img, .body script").count()).toBe(0);
    await view.getByRole("link", { name: /^site/ }).click();
    await expect.poll(async () => (await log()).links).toEqual(["https://a.example/page"]);
    expect((await log()).calls.every(({ name }) => name === "read_run")).toBe(true);
    expect(wrong).toEqual([]);
  },
);

testAppearances("the page of a run is accessible", async (context) => {
  await newTeam(`Look ${context.colorScheme} ${context.viewport?.width}`, careful());
  const theme = context.colorScheme === "dark" ? "dark" : "light";
  const { page, view, wrong } = await show(
    {
      name: `run_Look_${context.colorScheme}_${context.viewport?.width}`,
      arguments: { task: "What is 6 * 7?" },
      context: { theme, containerDimensions: { maxHeight: 600, maxWidth: 360 } },
    },
    context,
  );
  await view.getByRole("group", { name: "Approval for clerk" }).waitFor();
  const frame = page.frames().find((one) => one !== page.mainFrame());
  if (frame === undefined) throw new Error("there is no frame");
  expect(await findings(frame)).toEqual([]);
  expect(await frame.evaluate("document.documentElement.dataset.theme")).toBe(theme);
  const other = theme === "dark" ? "light" : "dark";
  await page.evaluate(`changeContext(${JSON.stringify({ theme: other })})`);
  await expect.poll(() => frame.evaluate("document.documentElement.dataset.theme")).toBe(other);
  expect(wrong).toEqual([]);
});
