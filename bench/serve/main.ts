// npm run bench -- serve [--smoke] [--without-peers] [--installed DIRECTORY]
//
// What one machine carries with `troupe serve`, beside the servers of LangGraph and Mastra under the same load.

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startNode } from "../support/child.ts";
import { isMet, number, printReport, type Report, table } from "../support/report.ts";
import { UPSTREAM } from "../support/streaming-team.ts";
import { measureBars } from "./bars.ts";
import type { Contender, ContenderOptions } from "./contender.ts";
import { installPeers, startLangGraph, startMastra, startTroupe } from "./contenders.ts";
import { type Held, holdStreams } from "./held-streams.ts";
import { measureLoad, type Results, type Shape } from "./load.ts";
import { installProduct } from "./product.ts";

const MB = 1e6;
/** A run that takes at most this many times what the model takes was not slowed down much. */
const PATIENCE = 1.5;

const FULL = {
  shape: {
    levels: [10, 50, 100, 200, 400],
    rounds: 3,
    creations: { count: 400, atOnce: 16 },
    tokens: 40,
    everyMs: 50,
  },
  held: { teams: 200, perTeam: 5 },
  bars: { starts: 5, idleMs: 60_000 },
};

/** Little of everything, to see that it works. Its figures mean nothing. */
const SMOKE = {
  shape: {
    levels: [2],
    rounds: 1,
    creations: { count: 4, atOnce: 2 },
    tokens: 5,
    everyMs: 20,
  },
  held: { teams: 2, perTeam: 2 },
  bars: { starts: 1, idleMs: 100 },
};

/** @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: "boolean", default: false },
      "without-peers": { type: "boolean", default: false },
      installed: { type: "string" },
    },
  });
  const { shape, held, bars } = values.smoke ? SMOKE : FULL;
  const directory = mkdtempSync(join(tmpdir(), "troupe-bench-serve-"));
  try {
    using product = await installProduct(values.installed);
    await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
    const { url } = upstream.hello;
    const goals = await measureBars(product, directory, url, bars);
    const options: ContenderOptions = {
      upstream: url,
      model: `paced-${shape.tokens}-${shape.everyMs}`,
      directory,
      runs: Math.max(...shape.levels),
    };
    await using stack = new AsyncDisposableStack();
    const troupe = stack.use(await startTroupe(product, options));
    const contenders: Contender[] = [troupe];
    const absent: string[] = [];
    for (const [name, start] of values["without-peers"] ? [] : PEERS) {
      try {
        await installPeers();
        contenders.push(stack.use(await start(options)));
      } catch (error) {
        absent.push(`${name} was not measured: ${(error as Error).message}`);
      }
    }
    const results = await measureLoad(contenders, shape);
    print(results, absent, shape, await holdStreams(troupe, held), goals);
    return goals.every(isMet) && results.every(({ failed }) => failed === undefined) ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const PEERS: readonly [name: string, start: (options: ContenderOptions) => Promise<Contender>][] = [
  ["langgraphjs dev", startLangGraph],
  ["mastra start", startMastra],
];

function print(
  results: readonly Results[],
  absent: readonly string[],
  shape: Shape,
  held: Held,
  goals: Report["goals"],
): void {
  const { rounds, creations, tokens, everyMs } = shape;
  const modelMs = tokens * everyMs;
  const [cpu] = cpus();
  printReport({
    title: "What one machine carries",
    method: `The installed package and the servers of the peers, each with a conversation of one assistant and the same fake model, which streams ${tokens} tokens, one every ${everyMs} ms: a run takes ${number(modelMs / 1000)} s of the model alone. Medians of ${rounds} rounds in which the servers take turns. ${creations.count} conversations are made, ${creations.atOnce} at once; then so many of them run at once. The model server and the clients share the machine: ${availableParallelism()} processors (${cpu?.model.trim()}), ${number(totalmem() / 1e9)} GB. Memory is that of all processes of a server.`,
    rows: results.map((one) => ({
      server: one.name,
      "what it stores": one.durable,
      "start, s": one.startMs / 1000,
      "conversations made per second": one.createdPerSecond,
      [`runs at once, 99 % within ${number((modelMs * PATIENCE) / 1000)} s`]: one.runsWithin(
        modelMs * PATIENCE,
      ),
      "memory before, MB": one.idleBytes / MB,
      "after the first round, MB": one.loadedBytes / MB,
      "per conversation, MB": one.bytesPerConversation / MB,
    })),
    goals,
  });
  const levels = results.flatMap(({ name, levels: all }) =>
    all.map(({ runs, first, whole, tokensPerSecond }) => ({
      "runs at once": runs,
      server: name,
      "first token, ms, p50": first.p50,
      "first token, p99": first.p99,
      "whole run, ms, p50": whole.p50,
      "whole run, p99": whole.p99,
      "tokens per second": Math.round(tokensPerSecond),
    })),
  );
  console.log(`\n${table(levels.toSorted((a, b) => a["runs at once"] - b["runs at once"]))}`);
  console.log(
    `\ntroupe serve held ${number(held.streams)} streams of teams at once, with ${number(held.bytesEach / 1000)} KB each; an event of a run that starts arrives after ${number(held.event.p50)} ms (p50), ${number(held.event.p99)} ms (p99).`,
  );
  for (const { name, failed } of results) {
    if (failed !== undefined) console.log(`${name} failed: ${failed}`);
  }
  for (const line of absent) console.log(line);
}
