import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dumpComponent } from "troupe";
import { FRESH } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { replayTeam } from "../support/replay-team.ts";
import type { Report } from "../support/report.ts";
import { median, percentile } from "../support/statistics.ts";
import { startWorkerd } from "../support/workerd.ts";

const FEW = 100;
const MANY = 100_000;
const PAGES = 200;

const TENANTS = 20;
const TEAMS = 50;
/** Requests of the quiet tenant: so many, one every so many milliseconds. */
const QUIET = 300;
const EVERY_MS = 20;
/** Of the flooding tenant, ten times its limit. */
const FLOOD_PER_SECOND = 1_000;

const SCOPES = ["teams:read", "teams:write", "runs:read", "runs:write"];

function keyOf(tenant: string): string {
  return `key-of-${tenant}`;
}

/** Lists of small and large tenants; tenants beside each other. */
export async function measure(): Promise<Report> {
  const names = [
    "few",
    "many",
    "quiet",
    "flood",
    ...Array.from({ length: TENANTS }, (_, index) => `tenant-${index}`),
  ];
  using worker = await bundle("bench/worker/platform.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: {
      SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
      API_KEYS: JSON.stringify(
        names.map((tenant) => ({
          hash: createHash("sha256").update(keyOf(tenant)).digest("hex"),
          tenant,
          scopes: SCOPES,
        })),
      ),
    },
  });
  await using workerd = await startWorkerd(worker);
  const ask = async (tenant: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(workerd.origin + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...FRESH,
        authorization: `Bearer ${keyOf(tenant)}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response;
  };
  const must = async (...call: Parameters<typeof ask>): Promise<number> => {
    const started = performance.now();
    const { status } = await ask(...call);
    if (status >= 300) throw new Error(`${call[1]}: ${status}`);
    return performance.now() - started;
  };

  const untilDone = async (tenant: string): Promise<void> => {
    for (;;) {
      const response = await fetch(`${workerd.origin}/v1/runs?status=completed&limit=200`, {
        headers: { ...FRESH, authorization: `Bearer ${keyOf(tenant)}` },
      });
      const { runs } = (await response.json()) as { runs: unknown[] };
      if (runs.length === TEAMS) return;
      await sleep(100);
    }
  };

  // Lists.
  await fetch(`${workerd.origin}/fill/few/${FEW}`);
  await fetch(`${workerd.origin}/fill/many/${MANY}`);
  const lists = new Map<string, number[]>([
    ["few", []],
    ["many", []],
  ]);
  for (let page = 0; page < PAGES; page++) {
    for (const [tenant, times] of lists) times.push(await must(tenant, "/v1/teams?limit=50"));
    await sleep(22); // Below the limit of requests per second.
  }
  const few = median(lists.get("few") ?? []);
  const many = median(lists.get("many") ?? []);

  // Many tenants under way at once.
  const component = dumpComponent(replayTeam(101, 10));
  const busy = names.slice(4);
  const started = performance.now();
  await Promise.all(
    busy.map(async (tenant) => {
      for (let index = 0; index < TEAMS; index++) {
        await must(tenant, "/v1/teams", { id: `team-${index}`, component });
        await must(tenant, `/v1/teams/team-${index}/runs`, { task: "Begin." });
      }
    }),
  );
  await Promise.all(busy.map((tenant) => untilDone(tenant)));
  const seconds = (performance.now() - started) / 1000;

  // A quiet tenant, alone and beside one that floods.
  await must("quiet", "/v1/teams", { id: "quiet", component: dumpComponent(replayTeam(3, 10)) });
  await must("flood", "/v1/teams", { id: "flood", component: dumpComponent(replayTeam(3, 10)) });
  const quiet = async (): Promise<number[]> => {
    const times: Promise<number>[] = [];
    for (let count = 0; count < QUIET; count++) {
      times.push(must("quiet", count % 2 === 0 ? "/v1/teams/quiet" : "/v1/teams?limit=10"));
      await sleep(EVERY_MS);
    }
    return Promise.all(times);
  };
  await quiet();
  const alone = percentile(await quiet(), 0.99);
  const askFlooding = async (): Promise<void> => {
    const { status } = await ask("flood", "/v1/teams/flood");
    refusals.set(status, (refusals.get(status) ?? 0) + 1);
  };
  const flooded = new AbortController();
  const refusals = new Map<number, number>();
  const flood = (async () => {
    const asked: Promise<void>[] = [];
    while (!flooded.signal.aborted) {
      for (let count = 0; count < FLOOD_PER_SECOND / 100; count++) {
        asked.push(askFlooding());
      }
      await sleep(10);
    }
    await Promise.all(asked);
  })();
  const beside = percentile(await quiet(), 0.99);
  flooded.abort();
  await flood;

  return {
    title: "Tenants",
    method: `The built Worker as it is deployed, with keys. First page of 50 teams, the median of ${PAGES}. ${TENANTS * TEAMS} teams of ${TENANTS} tenants are created and run at once, 100 replayed turns each. A quiet tenant sends a request every ${EVERY_MS} ms, alone and while another sends ${FLOOD_PER_SECOND} a second (refused with 429: ${refusals.get(429) ?? 0}, answered: ${refusals.get(200) ?? 0}).`,
    rows: [
      { what: `first page of ${FEW} teams, ms`, value: few },
      { what: `first page of ${MANY} teams, ms`, value: many },
      {
        what: `${TENANTS * TEAMS} teams under way at once, turns per second`,
        value: (TENANTS * TEAMS * 100) / seconds,
      },
      { what: "p99 of a quiet tenant alone, ms", value: alone },
      { what: "p99 of a quiet tenant beside a flooding one, ms", value: beside },
    ],
    goals: [
      {
        what: `first page of ${MANY} teams`,
        value: many / few,
        unit: `times that of ${FEW}`,
        limit: { atMost: 2 },
      },
      {
        what: "p99 of a quiet tenant beside a flooding one",
        value: beside / alone,
        unit: "times alone",
        limit: { atMost: 1.5 },
      },
    ],
  };
}
