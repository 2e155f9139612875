import { expect } from "vitest";
import { ConsoleStage } from "../../../console/test/support/stage.ts";
import { testInBrowser } from "../../support/browser.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { server } from "./support/shared-server.ts";

testInBrowser("the console shows a team and runs it", async () => {
  await server.json("/v1/teams", { id: "console", component: SAMPLE_COMPONENT });
  await using stage = await ConsoleStage.at(server.origin);
  const { page, complaints, foreign } = await stage.open("/teams/console");
  const task = page.getByRole("textbox", { name: "Task" });
  await task.fill("Go on.");
  await task.press("Enter");
  await page.getByText("two", { exact: true }).first().waitFor();
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
});
