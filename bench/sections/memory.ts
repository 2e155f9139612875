import { setTimeout as sleep } from "node:timers/promises";
import { dumpComponent } from "troupe";
import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import { replayTeam } from "../support/replay-team.ts";
import type { Report } from "../support/report.ts";
import { streamingTeam, UPSTREAM } from "../support/streaming-team.ts";
import { receive } from "../support/stream-client.ts";
import { startWorkerd } from "../support/workerd.ts";

const TEAMS = 200;
/** Teams made before the first look: buffers and caches of the process grow with the first ones. */
const FIRST = 50;

/** Memory of the process per team that is loaded. */
export async function measure(): Promise<Report> {
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  using worker = await bundle("src/service/worker.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  await using workerd = await startWorkerd(worker);
  const api = new Api(workerd.origin);

  const idle = dumpComponent(replayTeam(20, null));
  const runIdle = async (): Promise<void> => {
    await api.run(await api.createTeam(idle), "Begin.");
  };
  for (let team = 0; team < FIRST; team++) await runIdle();
  const before = workerd.memory();
  for (let team = 0; team < TEAMS; team++) await runIdle();
  const afterIdle = workerd.memory();

  const component = streamingTeam("paced-100-50", upstream.hello.url);
  const teams: string[] = [];
  for (let index = 0; index < TEAMS; index++) teams.push(await api.createTeam(component));
  const created = workerd.memory();
  const streams = teams.map((team) => receive(() => api.stream(team, "Hello"), "frame", false));
  await sleep(2500);
  const streaming = workerd.memory();
  await Promise.all(streams);

  const each = (bytes: number): number => bytes / TEAMS / 1000;
  return {
    title: "Memory",
    method: `Resident memory of workerd before and after ${TEAMS} teams of two, each with a run of 20 messages; then while ${TEAMS} further teams stream. Garbage is not collected in between, so these are upper bounds.`,
    rows: [
      { team: "idle, loaded", "KB each": each(afterIdle - before) },
      { team: "streaming", "KB each": each(streaming - created) },
      { team: "the process, with no team", "KB each": before / 1000 },
    ],
    goals: [],
  };
}
