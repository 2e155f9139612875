import { afterAll, beforeAll, expect, vi } from "vitest";
import type { Page } from "playwright-core";
import { TroupeClient } from "troupe/client";
import { sha256Hex } from "../../../src/core/hash.ts";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

const OPERATOR = "operator-secret";
const OWNER = "owner-secret";
/** Rows of more than a screen. */
const MORE_TENANTS = 40;

let stage: ConsoleStage;
let operator: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  stage = await ConsoleStage.start({
    TROUPE_OPEN: "",
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    API_KEYS: JSON.stringify([
      {
        hash: await sha256Hex(OWNER),
        tenant: "acme",
        scopes: ["teams:read", "teams:write", "runs:read", "runs:write"],
      },
    ]),
    MODEL_PRICES: JSON.stringify({ replay: { input: 1_000_000, output: 1_000_000 } }),
    CURRENCY: "EUR",
  });
  operator = new TroupeClient({ baseURL: stage.origin, token: OPERATOR });
  await put("acme", { limits: { stored_bytes: 5_000_000_000 } });
  const owner = new TroupeClient({ baseURL: stage.origin, token: OWNER });
  const talker = await owner.teams.create({ component: speaker(["Hello."]) });
  await talker.run("Hello?").result();
  const broken = await owner.teams.create({ component: speaker([]) });
  await broken
    .run("Say it.")
    .result()
    .catch(() => undefined);
  await vi.waitFor(
    async () => expect((await operator.tenants.get("acme")).today.runs).toBe(2),
    30_000,
  );
  for (let number = 0; number < MORE_TENANTS; number++) await put(tenantOf(number), {});
}, 120_000);
afterAll(() => stage?.[Symbol.asyncDispose]());

function tenantOf(number: number): string {
  return `tenant-${String(number).padStart(2, "0")}`;
}

async function put(tenant: string, body: object): Promise<void> {
  const response = await fetch(`${stage.origin}/v1/tenants/${tenant}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${OPERATOR}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}

async function enter(page: Page): Promise<void> {
  await page.getByLabel("Key or token").fill(OPERATOR);
  await page.keyboard.press("Enter");
}

testAppearances(
  "an operator sees what a tenant has used today and what it stores",
  async (context) => {
    const { page } = await stage.open("/", context);
    await enter(page);
    const row = page.getByRole("row").filter({ hasText: "acme" });
    await row.getByText("1 (50%)").waitFor();
    const { today, stored_bytes } = await operator.tenants.get("acme");
    expect(stored_bytes).toBeGreaterThan(0);
    const [runs, , tokens, cost, stored] = await row.getByRole("cell").allTextContents();
    expect(runs).toBe("2");
    expect(tokens).toBe(String(today.prompt_tokens + today.completion_tokens));
    expect(cost).toMatch(/^€\d/);
    expect(stored).toMatch(/^[\d.]+ KB of 5 GB$/);
    expect(await findings(page)).toEqual([]);
  },
);

testInBrowser("the numbers of a tenant load when its row is near, four at a time", async () => {
  const { page, complaints } = await stage.open("/");
  const asked: string[] = [];
  const held: (() => void)[] = [];
  await page.route("**/v1/tenants/*", async (route) => {
    asked.push(route.request().url().split("/").at(-1) ?? "");
    if (asked.length <= 4) await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  await enter(page);
  await expect.poll(() => held.length).toBe(4);
  expect(asked).toEqual(["acme", ...[0, 1, 2].map(tenantOf)]);
  for (const release of held) release();
  const rowOf = (number: number) => page.getByRole("row").filter({ hasText: tenantOf(number) });
  await rowOf(10).getByText("0 of 10,000").waitFor();
  const last = tenantOf(MORE_TENANTS - 1);
  expect(asked).not.toContain(last);
  await rowOf(MORE_TENANTS - 1).scrollIntoViewIfNeeded();
  await rowOf(MORE_TENANTS - 1)
    .getByText("0 of 10,000")
    .waitFor();
  expect(asked.filter((tenant) => tenant === last)).toHaveLength(1);
  expect(complaints.filter((complaint) => !complaint.includes("401"))).toEqual([]);
});
