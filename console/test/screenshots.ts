// `npm run screenshots`: the pictures of README and docs, in docs/images. One shows a plot, for which the system's Python needs
// matplotlib (`apt-get install python3-matplotlib`).

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { ROOT } from "../../test/support/npm-start.ts";
import { Sandbox } from "../../test/support/sandbox.ts";
import { careful, discussion, speaker } from "./support/components.ts";
import { newsroom, newsroomModels, VISITS } from "./support/newsroom.ts";
import { office, OFFICE_PRICES, officeModels } from "./support/office.ts";
import { ConsoleStage, TeamOnPage } from "./support/stage.ts";

const directory = join(ROOT, "docs/images");
mkdirSync(directory, { recursive: true });
await using models = await officeModels();
await using reviewers = await newsroomModels();
await using sandbox = await Sandbox.start();
await using stage = await ConsoleStage.start({
  MODEL_PRICES: OFFICE_PRICES,
  SANDBOX_URL: sandbox.url,
  SANDBOX_KEY: sandbox.key,
});
const { client } = stage;

async function picture(
  name: string,
  path: string,
  ready: (page: Page) => Promise<void>,
  context: BrowserContextOptions = {},
): Promise<void> {
  const viewport = { width: 1280, height: 760 };
  const { page } = await stage.open(path, { viewport, colorScheme: "light", ...context });
  await ready(page);
  await page.screenshot({ path: join(directory, `${name}.png`) });
  await page.context().close();
}

await picture("console-start", "/", (page) =>
  page.getByRole("button", { name: /^Writer critic/ }).waitFor(),
);

const CODE =
  "The loop runs once for each visit:\n\n```python\nimport csv\n\nwith open('visits.csv') as file:\n    total = sum(int(row['visits']) for row in csv.DictReader(file))\nprint(total)  # 42\n```\n\nIt prints `42`.";
const analyst = await client.teams.create({
  component: speaker([CODE]),
  label: "Visits of the week",
});
await analyst.run("How many visits were there in visits.csv?").result();
const clerk = await client.teams.create({ component: careful(), label: "Refunds" });
await clerk.start("Calculate the refund of order A7.");
const debate = await client.teams.create({ component: discussion(CODE, 5), label: "Code review" });
await debate.run("Discuss.").result();
const novel = await client.teams.create({ template: "writer_critic", label: "Novel" });
await novel.run("Write about a lighthouse.").result();
const planner = await client.teams.create({
  template: "human_in_the_loop",
  label: "Day in Lisbon",
});

await picture("console-team", `/teams/${novel.id}`, async (page) => {
  const team = new TeamOnPage(page);
  await team.send("Once more, and shorter.");
  await page.getByText("writing").first().waitFor();
  await page.getByText("Thank you, that helps.").last().waitFor();
});
await novel.stop((await novel.runs()).runs[0]?.id ?? "", "now");
const news = await client.teams.create({ component: newsroom(reviewers.url), label: "Newsroom" });
await news.writeFile("visits.csv", VISITS);
await picture(
  "console-picture",
  `/teams/${news.id}?view=picture`,
  async (page) => {
    await page.getByRole("button", { name: /^editor/ }).waitFor();
    await new TeamOnPage(page).send("How have visits grown this year? Draw it.");
    await page.getByRole("img", { name: "Preview of visits.png" }).waitFor();
    await page.locator(".thought", { hasText: "April is the exception" }).waitFor();
  },
  { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 },
);
await planner.start("Plan a day in Lisbon.");
await picture("console-teams", "/", async (page) => {
  await page.getByRole("row", { name: /Day in Lisbon.*Waiting for you/ }).waitFor();
  await page.getByRole("img", { name: /^Runs of the last 14 days/ }).waitFor();
});
await picture(
  "console-inbox-dark",
  "/inbox",
  (page) => page.getByRole("group", { name: "Approval for clerk" }).waitFor(),
  { colorScheme: "dark" },
);
await picture(
  "console-team-narrow",
  `/teams/${analyst.id}`,
  (page) => page.locator(".hljs-comment").first().waitFor(),
  { colorScheme: "dark", viewport: { width: 360, height: 740 } },
);

await novel.createSchedule({ cron: "0 8 * * 1-5", timezone: "Europe/Vienna", task: "Write." });
await novel.createSchedule({ cron: "30 17 * * 5", timezone: "Europe/Vienna", enabled: false });
await picture("console-schedules", `/teams/${novel.id}/schedules`, async (page) => {
  await page.getByText(/08:00/).first().waitFor();
});
const { messages } = await novel.messages({ limit: 3 });
const first = messages.find(({ type }) => type === "TextMessage");
const sequel = await novel.fork({ turn: first?.turn ?? 0 });
await sequel.run("Write about a bridge.").result();
await picture("console-compare", `/compare?a=${novel.id}&b=${sequel.id}`, async (page) => {
  await page.getByText("Write about a bridge.").waitFor();
});

const bureau = await client.teams.create({ component: office(models.url, 6), label: "Office" });
const { id: run } = await bureau.start("How much is six times seven? Write a story about it.");
await picture("console-timeline", `/teams/${bureau.id}/runs/${run}`, async (page) => {
  const answer = async (content: string): Promise<void> => {
    await page.locator(".run-bar .status", { hasText: "Waiting for you" }).waitFor();
    const [request] = await bureau.requests(run);
    await bureau.answer(run, request?.id ?? "", { content });
  };
  await answer("Once more.");
  await page.locator(".run-bar .status", { hasText: "Running" }).waitFor();
  await answer("Thank you.");
  await page.locator(".run-bar .status", { hasText: "Completed" }).waitFor();
  await page.locator(".timeline-row[data-kind=execute_tool]").first().click();
  await page.locator(".recorded").waitFor();
});
