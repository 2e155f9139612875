import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "troupe/client";
import {
  AssistantAgent,
  dumpComponent,
  OpenAIEmbeddingClient,
  ReplayChatCompletionClient,
  VectorMemory,
} from "troupe";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startEmbeddingServer } from "../../../test/support/embedding-server.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { holdTimers } from "../support/held-timers.ts";
import { keyOf } from "../support/keys.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
let server: Awaited<ReturnType<typeof startEmbeddingServer>>;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  server = await startEmbeddingServer();
  stage = await ConsoleStage.start();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const HANDBOOK = `# Handbook

## Holidays

Everyone has 30 days of holidays a year.

## Coffee

The machine is cleaned on Fridays.
`;

/** An agent that learns these facts from its first run, for the user. */
function learner(facts: readonly string[]) {
  const learn = new ReplayChatCompletionClient([JSON.stringify({ facts })]);
  return dumpComponent(
    new AssistantAgent({
      name: "cook",
      modelClient: new ReplayChatCompletionClient(["Nice to meet you."]),
      memory: [new VectorMemory({ scope: "user", extract: { modelClient: learn } })],
    }),
  );
}

function embedding(): Record<string, string | object> {
  return {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: {
      model: "small",
      base_url: server.url,
      api_key: "secret-key",
      retry: { attempts: 1, for_seconds: 1 },
    },
  };
}

testInBrowser("a memory is searched, corrected, erased and restored", async () => {
  const facts = ["Ada is vegan.", "Ada lives in Lisbon."];
  const team = await stage.client.teams.create({ component: learner(facts), label: "Cook" });
  const run = team.run("I am Ada.", { user: "ada" });
  await run.result();
  const known = async (): Promise<string[]> => {
    const { memories } = await stage.client.memories.list({ scope: "user", user: "ada" });
    return memories
      .map(({ content }) => JSON.stringify(content))
      .toSorted((a, b) => a.localeCompare(b));
  };
  await expect.poll(known).toHaveLength(2);
  const { page, complaints } = await stage.open("/");
  await page.getByRole("link", { name: "Memory" }).click();
  await page.getByText("No memories yet.").waitFor();
  await page.getByLabel("Scope").selectOption("user");
  await page.getByText("Enter a user ID.").waitFor();
  await page.getByLabel("User", { exact: true }).fill("ada");
  const entries = page.getByRole("list", { name: "Memories" }).getByRole("listitem");
  const vegan = entries.filter({ hasText: "vegan" });
  await vegan.waitFor();
  expect(await vegan.getByRole("link", { name: "Cook" }).getAttribute("href")).toBe(
    `/teams/${team.id}`,
  );
  expect(await vegan.getByRole("link", { name: /^run/ }).getAttribute("href")).toBe(
    `/teams/${team.id}/runs/${run.conversation.run?.id}`,
  );

  await page.getByRole("button", { name: "New memory" }).click();
  await page.getByLabel("Fact (one sentence)").fill("Ada is tall.");
  await page.getByRole("button", { name: "Create memory" }).click();
  await entries.filter({ hasText: "Ada is tall." }).getByText("Added by a person").waitFor();

  await vegan.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Fact (one sentence)").fill("Ada is a vegetarian.");
  await page.getByRole("button", { name: "Save" }).click();
  await entries.filter({ hasText: "vegetarian" }).waitFor();
  expect(await known()).toEqual([
    '"Ada is a vegetarian."',
    '"Ada is tall."',
    '"Ada lives in Lisbon."',
  ]);

  await page.getByLabel("Search memories").fill("Who lives where?");
  await entries.getByText("Score").first().waitFor();
  await expect.poll(() => entries.first().textContent()).toContain("Lisbon");
  await page.getByLabel("Search memories").fill("");

  const letTimePass = await holdTimers(page);
  await entries.filter({ hasText: "tall" }).getByRole("button", { name: "Delete" }).click();
  await entries.filter({ hasText: "tall" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await entries.filter({ hasText: "tall" }).waitFor();
  await letTimePass();
  await entries
    .filter({ hasText: "vegetarian" })
    .getByRole("button", { name: "Delete what its run learned" })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("2 memories were deleted.").waitFor();
  await expect.poll(() => entries.count()).toBe(1);
  expect(await known()).toEqual(['"Ada is tall."']);
  await page.getByRole("button", { name: "Delete this user's memories" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No memories yet.").waitFor();
  expect(await known()).toEqual([]);
  expect(complaints).toEqual([]);
});

testInBrowser("a search reports why it compared words only", async () => {
  const embeddingClient = new OpenAIEmbeddingClient({
    model: "small",
    baseURL: server.url,
    apiKey: "secret-key",
    retry: { attempts: 1, forSeconds: 1 },
  });
  const modelClient = new ReplayChatCompletionClient(["Tea, then."]);
  const memory = [new VectorMemory({ scope: "user", embedding: embeddingClient })];
  const component = dumpComponent(new AssistantAgent({ name: "waiter", modelClient, memory }));
  const team = await stage.client.teams.create({ component });
  await stage.client.memories.add({ user: "eve", scope: "user", content: "Eve drinks tea." });
  await team.run("A drink, please.", { user: "eve" }).result();
  const search = { scope: "user", user: "eve", q: "tea" } as const;
  await expect.poll(async () => (await stage.client.memories.list(search)).mode).toBe("hybrid");
  server.misbehave({ status: 500 });
  // A question of its own: the vectors of earlier ones are known.
  const { page, complaints } = await stage.open("/memory?scope=user&user=eve&q=tea+or+water");
  await page.getByText("Words only: the question could not be embedded").waitFor();
  await page.getByRole("listitem").filter({ hasText: "Eve drinks tea." }).waitFor();
  server.misbehave(undefined);
  expect(complaints).toEqual([]);
});

testInBrowser("documents are uploaded, searched, read, put again and deleted", async () => {
  const { page, complaints } = await stage.open("/memory/collections");
  await page.getByRole("button", { name: "New collection" }).click();
  await page.getByLabel(/^ID/).fill("handbook");
  await page.getByRole("textbox", { name: /^Embedding client/ }).fill(JSON.stringify(embedding()));
  await page.getByRole("button", { name: "Create collection" }).click();
  await page.getByRole("link", { name: "handbook" }).click();
  server.misbehave({ status: 500 });
  await page.locator('.upload input[type="file"]').setInputFiles([
    { name: "the handbook.md", mimeType: "", buffer: Buffer.from(HANDBOOK) },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("The door code is 17.") },
  ]);
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await row("the-handbook.md").getByText("Failed").waitFor();
  await row("the-handbook.md").getByText("overloaded").waitFor();
  await row("notes.txt").getByText("Failed").waitFor();
  server.misbehave(undefined);
  await page.getByRole("button", { name: "Embed missing parts" }).click();
  await row("the-handbook.md").getByText("Ready").waitFor();
  await row("notes.txt").getByText("Ready").waitFor();
  await page.getByRole("button", { name: "Embed missing parts" }).waitFor({ state: "detached" });

  await page.getByLabel("Question").fill("How many holidays do I have?");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("Matched by words and meaning.").waitFor();
  const part = page.getByRole("list", { name: "Results" }).getByRole("listitem");
  await part.filter({ hasText: "30 days" }).getByRole("link").click();
  await page.getByRole("region", { name: "Cited part" }).getByText("30 days").waitFor();
  await page.getByRole("region", { name: "Part 2" }).getByText("cleaned on Fridays").waitFor();
  await page.getByRole("link", { name: "Collection", exact: true }).click();

  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Replace notes.txt" }).click();
  const again = { name: "new.txt", mimeType: "text/plain", buffer: Buffer.from("The code is 18.") };
  await (await choosing).setFiles([again]);
  await page.getByText("notes.txt was replaced.").waitFor();
  const { chunks } = await stage.client.collections.chunks("handbook", "notes.txt");
  expect(chunks.map(({ content }) => content)).toEqual(["The code is 18."]);
  await page.getByRole("button", { name: "Delete notes.txt" }).click();
  await row("notes.txt").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "All collections" }).click();
  // A change that waits is made when its page is left.
  await page.reload();
  await expect
    .poll(async () => (await stage.client.collections.documents("handbook")).documents)
    .toHaveLength(1);
  await page.reload();
  await page.getByText("1 document", { exact: true }).waitFor();
  const collection = page.getByRole("listitem").filter({ hasText: "handbook" });
  await collection.getByRole("button", { name: "Delete" }).click();
  await collection.waitFor({ state: "detached" });
  await page.reload();
  await expect
    .poll(async () => (await stage.client.collections.list()).collections.map(({ id }) => id))
    .not.toContain("handbook");
  expect(complaints).toEqual([]);
});

testInBrowser("a citation opens the cited part beside the conversation", async () => {
  const team = await stage.client.teams.create({ template: "librarian" });
  const { page, complaints } = await stage.open(`/teams/${team.id}`);
  await new TeamOnPage(page).send("When is the library open on Sundays?");
  const citations = page.getByRole("list", { name: "Citations" });
  await citations.getByRole("button", { name: /Sundays and holidays/ }).click();
  const panel = page.getByRole("complementary", { name: "Preview" });
  const cited = panel.getByRole("region", { name: "Cited part" });
  await cited.getByText("from 11:00 to 16:00").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findings(page)).toEqual([]);
  }
  await panel.getByRole("link", { name: "Open document" }).click();
  await page.getByRole("heading", { level: 1, name: "Opening hours" }).waitFor();
  await page.getByRole("region", { name: "Cited part" }).getByText("from 11:00").waitFor();
  expect(complaints).toEqual([]);
});

testAppearances("axe finds nothing on the pages of memory", async (context) => {
  await stage.client.memories.add({
    scope: "tenant",
    memories: [{ content: "x".repeat(200) }, { content: { city: "Lisbon" } }],
  });
  await stage.client.collections.put("guides", { description: "For staff." });
  const guide = { content: HANDBOOK, type: "text/markdown" };
  await stage.client.collections.putDocument("guides", `${"long-name".repeat(12)}.md`, guide);
  const { page } = await stage.open("/memory", context);
  const check = async (shown: string): Promise<void> => {
    await page.locator(shown).first().waitFor();
    expect(await findings(page)).toEqual([]);
  };
  await check(".item");
  await page.getByRole("button", { name: "New memory" }).click();
  await check("dialog textarea");
  await page.goto(`${stage.origin}/memory/collections`);
  await check(".item");
  await page.getByRole("button", { name: "Edit", exact: true }).first().click();
  await check("dialog textarea");
  await page.goto(`${stage.origin}/memory/collections/guides`);
  await check(".documents-table");
  await page.getByLabel("Question").fill("holidays");
  await page.getByRole("button", { name: "Search" }).click();
  await check(".item");
  await page
    .getByRole("link", { name: /Holidays/ })
    .first()
    .click();
  await check(".chunk[data-cited=true]");
});

testInBrowser(
  "a key that only reads changes nothing, and one without the scope sees no page",
  async () => {
    const keys = [
      keyOf("a-key-that-reads", ["teams:read"]),
      keyOf("a-key-of-usage", ["usage:read"]),
      keyOf("a-key-that-writes", ["teams:read", "teams:write", "runs:write"]),
    ];
    await using closed = await ConsoleStage.start({
      TROUPE_OPEN: "",
      API_KEYS: JSON.stringify(keys),
    });
    const owner = new TroupeClient({ baseURL: closed.origin, token: "a-key-that-writes" });
    await owner.memories.add({ scope: "tenant", content: "The office is in Graz." });
    const { page } = await closed.open("/memory");
    await page.getByLabel("Key or token").fill("a-key-that-reads");
    await page.keyboard.press("Enter");
    await page.getByText("The office is in Graz.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "New memory" }).count()).toBe(0);
    const other = await closed.open("/memory");
    await other.page.getByLabel("Key or token").fill("a-key-of-usage");
    await other.page.keyboard.press("Enter");
    await other.page.getByText("Your key does not have access to this page").waitFor();
    await expect.poll(() => other.page.getByRole("link", { name: "Memory" }).count()).toBe(0);
  },
);
