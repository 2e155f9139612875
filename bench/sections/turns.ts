import { dumpComponent, run } from "troupe";
import { Api } from "../support/api.ts";
import { bundle } from "../support/bundle.ts";
import { replayTeam } from "../support/replay-team.ts";
import type { Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { startWorkerd } from "../support/workerd.ts";

/** Turns per second of AutoGen in memory, on two cores. */
const LENGTHS = [
  { messages: 100, autogen: 1800, rounds: 40 },
  { messages: 3000, autogen: 850, rounds: 5 },
];

/** Durable turns per second, against the same team in memory. */
export async function measure(): Promise<Report> {
  using worker = await bundle("src/service/worker.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1" },
  });
  await using workerd = await startWorkerd(worker);
  const api = new Api(workerd.origin);
  const rows: Report["rows"][number][] = [];
  const goals: Report["goals"][number][] = [];
  for (const { messages, autogen, rounds } of LENGTHS) {
    const component = dumpComponent(replayTeam(messages, null));
    const durable: number[] = [];
    const memory: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const team = await api.createTeam(component);
      durable.push(perSecond(messages, await api.run(team, "Begin.")));
      const started = performance.now();
      await run(replayTeam(messages, null), { task: "Begin." });
      memory.push(perSecond(messages, performance.now() - started));
    }
    const value = median(durable);
    rows.push({
      "messages in the run": messages,
      "durable, turns/s": value,
      "best of the rounds": Math.max(...durable),
      "in memory in Node, turns/s": median(memory),
    });
    goals.push({
      what: `durable turns with ${messages} messages`,
      value,
      unit: "per second",
      limit: { atLeast: autogen },
    });
  }
  return {
    title: "Durable turns per second",
    method:
      "Two assistants with a replay client and the whole conversation as their context, in one team object in workerd, over HTTP from the request to the finished run; and the same team in memory in Node.",
    rows,
    goals,
  };
}

function perSecond(messages: number, milliseconds: number): number {
  return (messages / milliseconds) * 1000;
}
