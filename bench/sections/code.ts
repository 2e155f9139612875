import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Sandbox } from "../../test/support/sandbox.ts";
import type { Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";

const SESSIONS = 12;
const ROUNDS = 60;
/** The pool has a ready interpreter again. */
const REFILL_MS = 1500;

const run = promisify(execFile);

/** How long code takes in the sandbox, over HTTP, beside an interpreter that is started for it. */
export async function measure(): Promise<Report> {
  const data = mkdtempSync(join(tmpdir(), "troupe-bench-"));
  try {
    const settings = { SANDBOX_ISOLATION: "wasm", SANDBOX_CACHE: join(data, "cache") };
    const cold = await timed(async () => (await Sandbox.start({ data, settings })).stop());
    const warm = await timed(async () => (await Sandbox.start({ data, settings })).stop());
    await using wasm = await Sandbox.start({ data, settings });
    await using processes = await Sandbox.start();

    const first: number[] = [];
    for (let index = 0; index < SESSIONS; index++) {
      await sleep(REFILL_MS);
      first.push(await timed(() => print(wasm, `first-${index}`, "python", "print(1)")));
    }
    const later = {
      "python -c": [] as number[],
      "Python in WebAssembly": [] as number[],
      "shell, interpreted": [] as number[],
      "Python as a process": [] as number[],
    };
    for (let round = -3; round < ROUNDS; round++) {
      const times: Record<keyof typeof later, number> = {
        "python -c": await timed(() => run("python3", ["-c", "print(1)"])),
        "Python in WebAssembly": await timed(() => print(wasm, "later", "python", "print(1)")),
        "shell, interpreted": await timed(() => print(wasm, "later", "sh", "echo 1")),
        "Python as a process": await timed(() => print(processes, "later", "python", "print(1)")),
      };
      // The first rounds start the interpreters that later rounds reuse.
      if (round < 0) continue;
      for (const [name, ms] of Object.entries(times)) later[name as keyof typeof later].push(ms);
    }
    const bare = median(later["python -c"]);
    return {
      title: "Code in the sandbox",
      method: `Requests over HTTP that run one line, one after the other, the four of a row in turn: medians of ${ROUNDS}, the first ones of ${SESSIONS} sessions. \`python -c\` is a new process without any sandbox.`,
      rows: [
        row("first in a session, Python in WebAssembly", first, bare),
        ...Object.entries(later).map(([name, times]) => row(name, times, bare)),
        { what: "start of the service", ms: warm, "times python -c": warm / bare },
        {
          what: "its very first start, which makes the snapshot",
          ms: cold,
          "times python -c": cold / bare,
        },
      ],
      goals: [
        { what: "first print(1)", value: median(first), unit: "ms", limit: { atMost: 300 } },
        {
          what: "later print(1)",
          value: median(later["Python in WebAssembly"]),
          unit: "ms",
          limit: { atMost: 30 },
        },
      ],
    };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

function row(what: string, times: readonly number[], bare: number): Report["rows"][number] {
  return { what, ms: median(times), "times python -c": median(times) / bare };
}

async function print(
  sandbox: Sandbox,
  session: string,
  language: string,
  code: string,
): Promise<void> {
  const response = await sandbox.execute(session, [[language, code]]);
  const result = (await response.json()) as { output?: string };
  if (result.output !== "1\n") throw new Error(`"${code}" gave ${JSON.stringify(result)}`);
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return performance.now() - started;
}
