import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { jsonLines, troupe } from "../../support/command.ts";

const directory = mkdtempSync(join(tmpdir(), "troupe-notify-"));

let worker: TestWorker;
let url: string;

beforeAll(async () => {
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  url = await worker.origin;
  const client = new TroupeClient({ baseURL: url });
  await client.teams.create({ id: "desk", component: SAMPLE_COMPONENT });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function fileOf(text: string): string {
  const path = join(directory, "receivers.json");
  writeFileSync(path, text);
  return path;
}

const notify = (...args: string[]): ReturnType<typeof troupe> =>
  troupe(["notify", "desk", ...args], { url });

describe("troupe notify", () => {
  test("sets the receivers from a file, lists them without their secrets, and takes its own output back", async () => {
    expect((await notify()).stdout).toBe("No one gets messages about this team.\n");
    const given = [
      { kind: "slack", url: "https://hooks.slack.com/services/T0/B0/hidden", on: ["run.failed"] },
      { kind: "telegram", token: "123:hidden", chat: "-42" },
    ];
    const lines =
      "slack  https://hooks.slack.com/**********  run.failed\n" +
      "telegram  -42  request.created,run.completed,run.failed\n";
    const set = await notify("set", fileOf(JSON.stringify(given)));
    expect(set).toMatchObject({ code: 0, stdout: lines });
    const listed = (await notify("--json")).stdout;
    expect(listed).not.toContain("hidden");
    expect(jsonLines(listed)).toMatchObject([{ notify: [{ kind: "slack" }, { chat: "-42" }] }]);
    expect((await notify("set", fileOf(listed))).stdout).toBe(lines);
    expect((await notify("set", fileOf("[]"))).stdout).toBe(
      "No one gets messages about this team.\n",
    );
  });

  test.for([
    [["set"], "", '"set" is used as: troupe notify TEAM set FILE'],
    [["list", "FILE"], "[]", '"list" is used as: troupe notify TEAM list'],
    [["set", "none.json"], "", 'The file "none.json" cannot be read.'],
    [["set", "FILE"], "{", "is not JSON"],
    [["set", "FILE"], "{}", "has no list of receivers"],
    [["set", "FILE"], '[{"kind":"fax"}]', "notify[0].kind"],
  ] as const)("explains what is wrong with %j and a file of %j", async ([args, text, message]) => {
    const path = fileOf(text);
    const { code, stderr } = await notify(...args.map((one) => (one === "FILE" ? path : one)));
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
