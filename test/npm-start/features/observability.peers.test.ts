import { expect, inject, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { Collector } from "../../telemetry/support/collector.ts";
import { server } from "./support/shared-server.ts";

test("a collector of OpenTelemetry gets the spans that the API shows, and metrics", async () => {
  await using collector = await Collector.start(inject("collectorPort"));
  await server.json("/v1/teams", { id: "traced", component: SAMPLE_COMPONENT });
  const run = await server.json<{ id: string }>("/v1/teams/traced/runs?wait=60", { task: "go" });
  const { spans } = await server.json<{ spans: { span_id: string }[] }>(
    `/v1/teams/traced/runs/${run.id}/trace`,
  );
  expect(spans.length).toBeGreaterThan(1);
  await expect
    .poll(() =>
      collector.spans
        .filter(({ attributes }) => attributes["troupe.run.id"] === run.id)
        .map(({ spanId }) => spanId)
        .toSorted(),
    )
    .toEqual(spans.map(({ span_id }) => span_id).toSorted());
  await expect.poll(() => collector.points.length).toBeGreaterThan(0);
});
