import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { Sandbox } from "../../../test/support/sandbox.ts";
import { findings } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
let sandbox: Sandbox;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  sandbox = await Sandbox.start();
  stage = await ConsoleStage.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
});

const RUNNER = {
  provider: "CodeExecutorAgent",
  config: {
    name: "runner",
    code_executor: { provider: "SandboxCodeExecutor", config: {} },
    sources: ["user"],
  },
};

/** A PNG of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PLOT = `import base64
open("plot.png", "wb").write(base64.b64decode("${PIXEL}"))
open("rents.csv", "w").write('city,rent\\n"Vienna, inner",900\\n')
print("drawn")`;

testInBrowser("a plot appears in the conversation, and files open beside it", async () => {
  const created = await stage.client.teams.create({ component: RUNNER });
  const { page, complaints, foreign } = await stage.open(`/teams/${created.id}`);
  await new TeamOnPage(page).send(`\`\`\`python\n${PLOT}\n\`\`\``);
  const plot = page.getByRole("img", { name: "Preview of plot.png" });
  await plot.waitFor();
  await expect
    .poll(() =>
      plot.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    )
    .toBe(1);
  await page.locator(".printed", { hasText: /Outputexit code 0.*drawn/s }).waitFor();

  const panel = page.getByRole("complementary", { name: "File" });
  await page.getByRole("link", { name: "rents.csv" }).click();
  await panel.getByRole("cell", { name: "Vienna, inner" }).waitFor();
  expect(await panel.getByRole("columnheader").allTextContents()).toEqual(["city", "rent"]);
  expect(new URL(page.url()).searchParams.get("open")).toBe("rents.csv");
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    expect(await findings(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await findings(page)).toEqual([]);
  await panel.getByRole("button", { name: "Close" }).click();
  await panel.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "plot.png" }).click();
  await panel.getByRole("img", { name: "plot.png" }).waitFor();
  await page.keyboard.press("Escape");
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
});

testInBrowser("long code and images of messages are opened beside the conversation", async () => {
  const lines = Array.from({ length: 15 }, (_, line) => `line_${line} = ${line}`);
  const code = `\`\`\`python\n${lines.join("\n")}\n\`\`\``;
  const created = await stage.client.teams.create({ component: speaker([code]) });
  const content = ["Look.", { data: PIXEL }];
  await created.run([{ type: "MultiModalMessage", source: "user", content }]).result();
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const panel = page.getByRole("complementary", { name: "Preview" });
  await page.getByRole("button", { name: "Open beside the conversation" }).click();
  await panel.getByText("line_14 = 14").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "Attached to this message" }).click();
  await panel.getByRole("img", { name: "Attached to this message" }).waitFor();
  await expect.poll(() => panel.getByText("line_14 = 14").count()).toBe(0);
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

testInBrowser("output of code that fails has its exit code", async () => {
  const created = await stage.client.teams.create({ component: RUNNER });
  const { page } = await stage.open(`/teams/${created.id}`);
  await new TeamOnPage(page).send("```python\nimport sys\nprint('# halt')\nsys.exit(3)\n```");
  const printed = page.locator(".printed");
  await printed.locator('[data-failed="true"]', { hasText: "exit code 3" }).waitFor();
  expect(await printed.locator("pre").innerText()).toContain("# halt");
});

testInBrowser("JSON is shown as keys and values, CSV as a table, formulas as such", async () => {
  const said = [
    JSON.stringify({ city: "Vienna", rents: [{ flat: 1, rent: 900 }], note: "" }),
    "```csv\ncity,rent\nGraz,700\n```\n\n$$\\frac{1}{2}$$ and $\\href{javascript:alert(1)}{x}$",
  ];
  const created = await stage.client.teams.create({ component: speaker(said) });
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("Go.");
  const json = page.locator("article .body > .json");
  await expect
    .poll(() => json.locator("> div > dt").allTextContents())
    .toEqual(["city", "rents", "note"]);
  await json.getByText("Vienna", { exact: true }).waitFor();
  await team.status("Completed");
  await team.send("Go on.");
  await page.getByRole("cell", { name: "Graz" }).waitFor();
  await page.locator(".math mfrac").waitFor();
  // A formula with a forbidden command leaves its source.
  await page.locator(".math code", { hasText: "\\href{javascript:alert(1)}{x}" }).waitFor();
  expect(await page.locator("article .math a").count()).toBe(0);
  expect(complaints).toEqual([]);
});
