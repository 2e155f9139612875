import { expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { server } from "./support/shared-server.ts";

test("schedules start runs at their time, and when they are asked to", async () => {
  await server.json("/v1/teams", { id: "schedules", component: SAMPLE_COMPONENT });
  const path = "/v1/teams/schedules";
  const runs = async (): Promise<{ status: string; task: { content: string }[] }[]> =>
    (await server.json<{ runs: [] }>(`${path}/runs`)).runs;
  const at = new Date(Date.now() + 5_000).toISOString();
  await server.json(`${path}/schedules`, { at, task: "Once." });
  await expect.poll(runs).toMatchObject([{ status: "completed", task: [{ content: "Once." }] }]);
  const { id } = await server.json<{ id: string }>(`${path}/schedules`, {
    cron: "0 8 * * 1-5",
    timezone: "Europe/Berlin",
    task: "Each morning.",
  });
  await server.json(`${path}/schedules/${id}/run_now`, {});
  await expect
    .poll(runs)
    .toMatchObject([{ status: "completed", task: [{ content: "Each morning." }] }, {}]);
});
