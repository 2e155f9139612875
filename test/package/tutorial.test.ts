import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openTab, startBrowser, testInBrowser } from "../support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { snippetsOf } from "../support/pages.ts";
import { PATIENCE } from "../support/patience.ts";
import { Reader } from "./support/reader.ts";

// The reader of the tutorial does one step after the other, with the package as `npm pack` makes it.

const STEPS = Map.groupBy(snippetsOf("docs/tutorial.md"), ({ heading }) => heading);

let openai: FakeOpenAI;
let reader: Reader;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      {
        name: "look",
        match: { role: "user" },
        reply: { tool_calls: [{ name: "my_orders", arguments: {} }] },
      },
      {
        name: "say",
        match: { role: "tool" },
        reply: { content: "Your teapot was sent on Monday." },
      },
    ],
  });
  reader = await Reader.start({
    tarball: inject("tarball"),
    project: "my-team",
    settings: { OPENAI_BASE_URL: openai.url },
    values: { key: "sk-test" },
  });
});

afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

for (const [step, snippets] of STEPS) {
  test(`the step "${step}" has the effects that the tutorial shows`, async () => {
    await reader.follow(snippets);
  });
  if (step.includes("React"))
    testInBrowser("the page of the tutorial answers its customer", () => askOnPage(reader.printed));
}

/** Asks what a customer asks, on the page at this address. */
async function askOnPage(address: string): Promise<void> {
  const browser = await startBrowser();
  try {
    const page = await openTab(browser);
    const errors: Error[] = [];
    page.on("pageerror", (error) => errors.push(error));
    await page.goto(address.trim());
    await page.locator("input").fill("Where is my order?");
    await page.getByRole("button", { name: "Send" }).click();
    const lines = page.locator("main p");
    await expect
      .poll(() => lines.allTextContents(), PATIENCE)
      .toEqual(["user Where is my order?", "clerk A-17: teapot, sent on Monday"]);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
}
