import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { Workerd } from "../chaos/harness/workerd.ts";
import { configOfWorker } from "../support/workerd-config.ts";

const ENTRY = "test/team/support/spinning-worker.ts";

test("a run that takes the whole process with it each time fails in the end, and the server answers", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "troupe-spinning-"));
  let spins = (): void => {};
  const config = await configOfWorker(["TROUPE_OPEN"], { entry: ENTRY });
  const state = join(scratch, "state");
  const lines: string[] = [];
  const onOutput = (line: string): void => {
    lines.push(line);
    if (line.includes("SPINNING")) spins();
  };
  const workerd = new Workerd({ config, state, vars: { TROUPE_OPEN: "1" }, onOutput });
  const spinning = (): Promise<"spinning"> =>
    new Promise((done) => {
      spins = () => done("spinning");
    });
  const call = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${workerd.origin}/v1/teams${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    });
    return response.json();
  };
  try {
    await workerd.start(null);
    const component = { provider: "test.SpinningAgent", config: { name: "spinner" } };
    await call("", { id: "team", component });
    let spun = spinning();
    const { id } = (await call("/team/runs", { task: "go" })) as RunInfo;
    let deaths = 0;
    let run: RunInfo | undefined;
    while (run === undefined && (await spun) === "spinning") {
      await workerd.kill();
      deaths++;
      expect(deaths).toBeLessThanOrEqual(11);
      spun = spinning();
      await workerd.start(null);
      // Any request loads the team; the process may spin before it can answer.
      const shown = call(`/team/runs/${id}`).catch(() => undefined) as Promise<RunInfo | undefined>;
      const seen = await Promise.race([spun, shown]);
      if (typeof seen === "object" && seen.ended_at !== null) run = seen;
    }
    expect(deaths).toBe(11);
    expect(run).toMatchObject({
      status: "failed",
      error: { type: "recovery_limit", turn: 2 },
    });
    expect(await call("/team")).toMatchObject({ status: "idle" });
    expect(lines.filter((line) => line.includes('"event":"run_recovered"'))).toHaveLength(10);
    expect(lines.find((line) => line.includes('"event":"run_failed"'))).toContain(
      '"class":"TroupeError","code":"recovery_limit"',
    );
  } finally {
    await workerd.kill();
    rmSync(scratch, { recursive: true, force: true });
  }
});
