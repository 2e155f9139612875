import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dumpComponent } from "troupe";
import { bundle } from "../support/bundle.ts";
import { flood } from "../load/flood.ts";
import { KeyedClient } from "../load/keyed-client.ts";
import { replayTeam } from "../support/replay-team.ts";
import type { Report } from "../support/report.ts";
import { median, percentile } from "../support/statistics.ts";
import { startWorkerd } from "../support/workerd.ts";

const FEW = 100;
const MANY = 100_000;
const PAGES = 200;

const BUSY = Array.from({ length: 20 }, (_, index) => `tenant-${index}`);
const TEAMS = 50;
/** The turns of each run. */
const TURNS = 100;

/** Requests of the quiet tenant per round, and the milliseconds between them. */
const QUIET = 200;
const EVERY_MS = 20;
const ROUNDS = 7;
/** Requests of the flooding tenant, whose limit is 100: the processor is far from busy with the first, and half busy with the second. */
const FLOOD_PER_SECOND = 200;
const HEAVY_FLOOD_PER_SECOND = 1_000;

const SCOPES = ["teams:read", "teams:write", "runs:read", "runs:write"];

/** Lists of small and large tenants; tenants beside each other. */
export async function measure(): Promise<Report> {
  const tenants = ["few", "many", "quiet", "flood", ...BUSY];
  using worker = await bundle("bench/worker/platform.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: {
      SECRETS_KEY: Buffer.alloc(32, 1).toString("base64"),
      API_KEYS: JSON.stringify(tenants.map(staticKey)),
    },
  });
  await using workerd = await startWorkerd(worker);
  const { origin } = workerd;
  const neighbours = await measureNeighbours(origin);
  const { few, many } = await measureLists(origin);
  const turnsPerSecond = await measureBusy(origin);
  return {
    title: "Tenants",
    method: `The built Worker as it is deployed, with keys. A quiet tenant sends a request every ${EVERY_MS} ms, in turn alone and while another process sends ${FLOOD_PER_SECOND} or ${HEAVY_FLOOD_PER_SECOND} a second for another tenant, whose limit is 100 (refused with 429: ${neighbours.refused}); all share one thread of the runtime; the median of the p99 of ${ROUNDS} rounds of ${QUIET} requests. First page of 50 teams, the median of ${PAGES}. ${BUSY.length * TEAMS} teams of ${BUSY.length} tenants are created and run at once, ${TURNS} replayed turns each.`,
    rows: [
      { what: "p99 of a quiet tenant alone, ms", value: neighbours.alone },
      {
        what: `the same beside ${FLOOD_PER_SECOND} requests a second, ms`,
        value: neighbours.beside,
      },
      {
        what: `the same beside ${HEAVY_FLOOD_PER_SECOND} requests a second, ms`,
        value: neighbours.besideHeavy,
      },
      { what: `first page of ${FEW} teams, ms`, value: few },
      { what: `first page of ${MANY} teams, ms`, value: many },
      {
        what: `${BUSY.length * TEAMS} teams under way at once, turns per second`,
        value: turnsPerSecond,
      },
    ],
    goals: [
      {
        what: "p99 of a quiet tenant beside a flooding one",
        value: neighbours.beside / neighbours.alone,
        unit: "times alone",
        limit: { atMost: 1.5 },
      },
      {
        what: `first page of ${MANY} teams`,
        value: many / few,
        unit: `times that of ${FEW}`,
        limit: { atMost: 2 },
      },
    ],
  };
}

/** A quiet tenant, alone and beside one that floods. */
async function measureNeighbours(
  origin: string,
): Promise<{ alone: number; beside: number; besideHeavy: number; refused: number }> {
  using quiet = client(origin, "quiet");
  using flooding = client(origin, "flood");
  const component = dumpComponent(replayTeam(3, 10));
  await quiet.ask("/v1/teams", { id: "quiet", component });
  await flooding.ask("/v1/teams", { id: "flood", component });
  const p99 = async (): Promise<number> => {
    const times: Promise<number>[] = [];
    for (let count = 0; count < QUIET; count++) {
      times.push(quiet.timed(count % 2 === 0 ? "/v1/teams/quiet" : "/v1/teams?limit=10"));
      await sleep(EVERY_MS);
    }
    return percentile(await Promise.all(times), 0.99);
  };
  await p99();
  let refused = 0;
  const p99Beside = async (perSecond: number): Promise<number> => {
    const others = flood(`${origin}/v1/teams/flood`, keyOf("flood"), perSecond);
    const value = await p99();
    refused += (await others.end())["429"] ?? 0;
    return value;
  };
  const rounds: Record<"alone" | "beside" | "besideHeavy", number>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      alone: await p99(),
      beside: await p99Beside(FLOOD_PER_SECOND),
      besideHeavy: await p99Beside(HEAVY_FLOOD_PER_SECOND),
    });
  }
  return {
    alone: median(rounds.map(({ alone }) => alone)),
    beside: median(rounds.map(({ beside }) => beside)),
    besideHeavy: median(rounds.map(({ besideHeavy }) => besideHeavy)),
    refused,
  };
}

/** Milliseconds of the first page. */
async function measureLists(origin: string): Promise<{ few: number; many: number }> {
  await fetch(`${origin}/fill/few/${FEW}`);
  await fetch(`${origin}/fill/many/${MANY}`);
  using few = client(origin, "few");
  using many = client(origin, "many");
  const times: { few: number[]; many: number[] } = { few: [], many: [] };
  for (let page = 0; page < PAGES; page++) {
    times.few.push(await few.timed("/v1/teams?limit=50"));
    times.many.push(await many.timed("/v1/teams?limit=50"));
    await sleep(22); // Below the limit of requests per second.
  }
  return { few: median(times.few), many: median(times.many) };
}

/** Turns per second while all teams of all tenants are under way. */
async function measureBusy(origin: string): Promise<number> {
  const component = dumpComponent(replayTeam(TURNS + 1, 10));
  const started = performance.now();
  await Promise.all(BUSY.map((tenant) => runAll(origin, tenant, component)));
  return (BUSY.length * TEAMS * TURNS * 1000) / (performance.now() - started);
}

async function runAll(origin: string, tenant: string, component: object): Promise<void> {
  using one = client(origin, tenant);
  for (let index = 0; index < TEAMS; index++) {
    await one.ask("/v1/teams", { id: `team-${index}`, component });
    await one.ask(`/v1/teams/team-${index}/runs`, { task: "Begin." });
  }
  for (;;) {
    const { runs } = await one.ask<{ runs: unknown[] }>("/v1/runs?status=completed&limit=200");
    if (runs.length === TEAMS) return;
    await sleep(100);
  }
}

function client(origin: string, tenant: string): KeyedClient {
  return new KeyedClient(origin, keyOf(tenant));
}

function keyOf(tenant: string): string {
  return `key-of-${tenant}`;
}

function staticKey(tenant: string): object {
  const hash = createHash("sha256").update(keyOf(tenant)).digest("hex");
  return { hash, tenant, scopes: SCOPES };
}
