import { expect, test } from "vitest";
import { labelFault, textFault } from "../../scripts/lint/plain-texts.mjs";

test.each([
  ["POST /v1/teams/demo/runs failed", "address of the API"],
  ["Answer at /v1/requests", "address of the API"],
  ["Id of the user", "write ID"],
  ["This link does not work any more", "no longer"],
  ["Everybody who has the link can read it.", "anyone"],
  ["Put the document again, or take back the run", "remove or delete"],
  ["The server cannot be reached", "can't"],
  ["1 documents", "singular"],
])("the text %j of a page is refused", (text, reason) => {
  expect(textFault(text)).toContain(reason);
});

test.each([
  "The server can't be reached.",
  "No keys yet.",
  "1 document",
  "3 documents",
  "Started 1 day ago",
])("the text %j of a page is plain", (text) => {
  expect(textFault(text)).toBeUndefined();
});

test("labels are in sentence case and have no period", () => {
  expect(labelFault("Create Team")).toContain("team");
  expect(labelFault("Create team.")).toContain("period");
  for (const label of [
    "Create team",
    "Paste component JSON",
    "New MCP server",
    "Show more",
    "Loading...",
  ]) {
    expect(labelFault(label)).toBeUndefined();
  }
});
