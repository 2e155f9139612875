// npm run bench -- soak [--runs 50000] [--teams 20] [--runs-per-team 10] [--installed DIRECTORY]
//
// Runs through `troupe serve` in teams that are made and deleted. Prints the growth of memory and what the deletions have left
// behind, and fails if that are rows of teams.

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dumpComponent, RoundRobinGroupChat, UserProxyAgent } from "troupe";
import { installProduct } from "../serve/product.ts";
import { TroupeServer } from "../serve/troupe-server.ts";
import { startNode } from "../support/child.ts";
import { number, table } from "../support/report.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { remainsIn, sizeOf } from "./stored.ts";
import { slopeOf } from "./slope.ts";
import { liveAndDie } from "./team-life.ts";

const MODEL = "burst-10";
/** The number of samples. The first fifth is the warm-up. */
const SAMPLES = 50;
const WARM_UP = 0.2;
/** Every tenth team gets what a team can have beside its runs; of every twentieth a run waits for an answer when it is deleted. */
const WITH_BELONGINGS = 10;
const WITH_QUESTION = 20;
const MB = 1e6;

/** Limits of a tenant that the load exceeds, and the host of the receivers, which get no message. */
const SETTINGS = {
  TENANT_REQUESTS_PER_SECOND: "100000",
  TENANT_RUNS_PER_MINUTE: "1000000",
  WEBHOOK_HOSTS: "receiver.example",
};

interface Sample {
  runs: number;
  seconds: number;
  memory: number;
  files: number;
  bytes: number;
}

/** @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "50000" },
      teams: { type: "string", default: "20" },
      "runs-per-team": { type: "string", default: "10" },
      installed: { type: "string" },
    },
  });
  const runs = count("--runs", values.runs);
  const teams = count("--teams", values.teams);
  const perTeam = count("--runs-per-team", values["runs-per-team"]);
  using product = await installProduct(values.installed);
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  const { url } = upstream.hello;
  const state = mkdtempSync(join(tmpdir(), "troupe-soak-"));
  try {
    const ids = new Set<string>();
    const samples: Sample[] = [];
    {
      await using server = await TroupeServer.start(product, state, url, SETTINGS);
      const began = performance.now();
      let done = 0;
      const take = (): void => {
        const seconds = (performance.now() - began) / 1000;
        samples.push({ runs: done, seconds, memory: server.process.memory(), ...sizeOf(state) });
        const { memory, bytes } = samples.at(-1) ?? { memory: 0, bytes: 0 };
        console.error(
          `${number(done)} runs, ${number(Math.round(seconds))} s: ${number(memory / MB)} MB of memory, ${number(bytes / MB)} MB stored`,
        );
      };
      const lives = Math.ceil(runs / perTeam);
      const components = {
        answers: streamingTeam(MODEL, url),
        asks: dumpComponent(new RoundRobinGroupChat([new UserProxyAgent({ name: "human" })])),
      };
      let next = 0;
      const live = async (): Promise<void> => {
        while (next < lives) {
          const index = next++;
          const asks = index % WITH_QUESTION === 1;
          const id = await liveAndDie({
            server,
            component: asks ? components.asks : components.answers,
            key: `soak-${index}`,
            runs: asks ? 1 : perTeam,
            belongings: index % WITH_BELONGINGS === 0,
          });
          ids.add(id);
          done += perTeam;
          if (done >= (samples.length * runs) / SAMPLES) take();
        }
      };
      take();
      await Promise.all(Array.from({ length: teams }, live));
    }
    // Deletions that were not reported yet are, and workerd's files of deleted objects are removed.
    await (await TroupeServer.start(product, state, url, SETTINGS)).process.stop();
    return report(samples, ids, state);
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

function report(samples: readonly Sample[], ids: ReadonlySet<string>, state: string): number {
  const last = samples.at(-1);
  const warm = samples.filter(({ runs }) => runs >= (last?.runs ?? 0) * WARM_UP);
  const { value, error } = slopeOf(warm.map(({ runs, memory }) => [runs / 1000, memory / MB]));
  console.log(`\n## ${number(last?.runs ?? 0)} runs in ${number(ids.size)} teams\n`);
  const [cpu] = cpus();
  console.log(
    `On ${availableParallelism()} processors (${cpu?.model.trim()}), ${number(totalmem() / 1e9)} GB; ${number(last?.seconds ?? 0)} s.\n`,
  );
  const every = Math.ceil(samples.length / 10);
  console.log(
    table(
      samples
        .filter((_, index) => index % every === 0 || index === samples.length - 1)
        .map(({ runs, memory, files, bytes }) => ({
          runs,
          "memory, MB": memory / MB,
          "database files": files,
          "stored, MB": bytes / MB,
        })),
    ),
  );
  console.log(
    `\nMemory after the warm-up: ${number(value)} MB per 1,000 runs, with a standard error of ${number(error)}.`,
  );
  const { rows, kept, teams } = remainsIn(state, (id) => ids.has(id));
  const { files, bytes } = sizeOf(state);
  const named = (tables: ReadonlyMap<string, number>): string =>
    tables.size === 0
      ? "none"
      : [...tables].map(([name, some]) => `${number(some)} in ${name}`).join(", ");
  console.log(
    `After the next start: ${files} database files, ${number(bytes / MB)} MB.
Rows of deleted teams that are kept on purpose: ${named(kept)}.
Rows of deleted teams that should be gone: ${named(rows)}.
Databases of deleted teams: ${teams}.`,
  );
  return rows.size === 0 && teams === 0 ? 0 : 1;
}

function count(name: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${name} is ${text}: it must be a whole number, at least 1.`);
}
