// Has a team write a report on each working day and send it to Slack, the first one now:
// SLACK_WEBHOOK_URL=https://hooks.slack.com/services/... npx node examples/scheduled-report/schedule.ts [--model gpt-5-mini]
import { parseArgs } from "node:util";
import { ApiError, TroupeClient } from "troupe/client";
import { withModel } from "../support/with-model.ts";
import agent from "./agent.json" with { type: "json" };
import schedule from "./schedule.json" with { type: "json" };

const url = process.env["SLACK_WEBHOOK_URL"];
if (url === undefined) throw new Error("Set SLACK_WEBHOOK_URL to an incoming webhook of Slack.");

const { values } = parseArgs({ options: { model: { type: "string" } } });
const client = new TroupeClient({ baseURL: process.env["TROUPE_URL"] ?? "http://127.0.0.1:8787" });
const team = client.team("report");

/** Creates, or changes what an earlier run of this script has created. */
async function put(create: () => Promise<unknown>, change: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    await change();
  }
}

const component = withModel(agent, values.model);
await put(
  () => client.teams.create({ id: team.id, component }),
  () => team.replaceComponent(component),
);
const ID = "working-days";
const timed = { ...schedule, notify: [{ kind: "slack" as const, url }] };
await put(
  () => team.createSchedule({ id: ID, ...timed }),
  () => team.changeSchedule(ID, timed),
);

const { next_at } = await team.schedule(ID);
console.log(`The next report is written at ${next_at}.`);
const { id } = await team.runSchedule(ID);
await team.watch(id).result();
console.log("The first report is written and on its way to Slack.");
