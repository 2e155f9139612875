import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { bundlePage, openTab, startBrowser, testInBrowser } from "../../../support/browser.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { speaker } from "../../../../console/test/support/components.ts";
import { newTeam } from "../support/teams.ts";
import { converse, type Place } from "./support/converse.ts";

const TEXT = "Four little words here.";

/** Serves a page on an origin of its own. */
let site: Server;
let worker: TestWorker;
let place: Place;

beforeAll(async () => {
  const script = await bundlePage("test/api/protocols/openai/browser/page.ts");
  site = createServer(({ url }, response) => {
    const isScript = url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>',
    );
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      API_KEYS: JSON.stringify([{ hash: await sha256Hex("acme"), tenant: "acme", scopes: SCOPES }]),
      ALLOWED_ORIGINS: siteOrigin(),
    },
    { entry: "test/api/protocols/openai/worker/main.ts" },
  );
  const component = speaker([TEXT], 30);
  await newTeam(worker, { id: "desk", component }, { authorization: "Bearer acme" });
  place = { origin: await worker.origin, apiKey: "acme", model: "team:desk" };
});

afterAll(async () => {
  site.close();
  await worker[Symbol.asyncDispose]();
});

function siteOrigin(): string {
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

const expected = {
  whole: TEXT,
  content: TEXT,
  pieces: true,
  text: TEXT,
  again: TEXT,
  refused: "model_not_found",
};

describe("the client has a conversation", () => {
  test("that runs in Node", async () => {
    expect(await converse(place)).toEqual(expected);
  });

  test("that runs in a Worker", async () => {
    const response = await worker.fetch("/converse", jsonInit(place));
    expect(await response.json()).toEqual(expected);
  });

  testInBrowser("that runs in a browser", async () => {
    const browser = await startBrowser();
    try {
      const page = await openTab(browser);
      await page.goto(siteOrigin());
      const shown = await page.evaluate(
        (given) => (globalThis as unknown as { converse: typeof converse }).converse(given),
        place,
      );
      expect(shown).toEqual(expected);
    } finally {
      await browser.close();
    }
  });
});
