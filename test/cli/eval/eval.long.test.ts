import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../support/npm-start.ts";
import { snippets } from "../../support/pages.ts";
import { type Ended, troupe } from "../support/command.ts";

const place = mkdtempSync(join(tmpdir(), "evals-"));
afterAll(() => rmSync(place, { recursive: true }));

const inPlace = (...args: string[]): Promise<Ended> => troupe(args, { cwd: place });

function write(path: string, content: unknown): string {
  const file = join(place, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** The file of that name on the page. */
function ofPage(path: string): string {
  const found = snippets.find(({ info }) => info === path);
  if (found === undefined) throw new Error(`the page has no ${path}`);
  return found.code;
}

const agent = (answer: string): object => ({
  provider: "AssistantAgent",
  config: {
    name: "guide",
    model_client: {
      provider: "ReplayChatCompletionClient",
      config: { chat_completions: [answer] },
    },
  },
});

const evaluation = {
  data: [{ id: "norway", task: "Norway?", expected: "Oslo" }],
  variants: [{ name: "new", component: agent("Oslo") }],
  scorers: [{ provider: "Includes" }],
};

describe("troupe eval", () => {
  test("compares with the results of an earlier run, in files of each kind", async () => {
    write("team.json", agent("Rome"));
    write(
      "before.yaml",
      "data: items.jsonl\nvariants: [{ name: new, component: team.json }]\nscorers: [{ provider: Includes }]\n",
    );
    write("items.jsonl", '{"id": "norway", "task": "Norway?", "expected": "Oslo"}\n');
    const before = await inPlace("eval", "before.yaml", "--output", "before.json");
    expect(before).toMatchObject({ code: 0, stderr: "" });
    write(
      "after.mjs",
      `export default ${JSON.stringify({ ...evaluation, thresholds: [{ scorer: "Includes", mean: 1 }] })};`,
    );
    const after = await inPlace("eval", "after.mjs", "--baseline", "before.json", "--json");
    expect(after.code).toBe(0);
    expect(JSON.parse(after.stdout)).toMatchObject({
      comparisons: [{ variants: ["new@baseline", "new"], difference: 1, enough: false }],
    });
  });

  test.each([
    [{ ...evaluation, data: "nowhere.jsonl" }, "nowhere.jsonl cannot be read"],
    [
      { ...evaluation, data: { format: "csv", file: "x" } },
      "data: must be a list of items, the path of a file",
    ],
    [
      { ...evaluation, variants: [{ name: "a", template: "nowhere" }] },
      "variants[0].template: there is no template",
    ],
    [{ ...evaluation, thresholds: [{ scorer: "Includes" }] }, "needs at least one of mean"],
    [
      { ...evaluation, thresholds: [{ scorer: "other", mean: 1 }] },
      "thresholds[0].scorer: must be one of Includes",
    ],
    ["no JSON", "cannot be read as JSON"],
  ])("names what is wrong in a file: case %#", async (content, message) => {
    write("wrong.json", content);
    const { code, stderr } = await inPlace("eval", "wrong.json");
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test("converts items", async () => {
    write("samples.jsonl", '{"input": [{"role": "user", "content": "2+2?"}], "ideal": "4"}\n');
    const { stdout } = await inPlace(
      "eval",
      "--import",
      "openai-evals",
      "--export",
      "mastra",
      "samples.jsonl",
    );
    expect(JSON.parse(stdout)).toEqual({ input: "2+2?", groundTruth: "4" });
  });
});

describe("the workflow of the page", () => {
  const copy = join(place, "copy");
  const summary = join(place, "summary.md");
  const workflow = parse(ofPage(".github/workflows/evals.yml")) as {
    jobs: { evals: { steps: { run?: string }[] } };
  };
  const steps = workflow.jobs.evals.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));

  beforeAll(() => {
    const files = execFileSync("git", ["ls-files", "-z", "src", "package.json", "tsconfig*.json"], {
      cwd: ROOT,
      encoding: "utf8",
    });
    for (const file of files.split("\0").filter((one) => one !== "")) {
      cpSync(join(ROOT, file), join(copy, file));
    }
    for (const path of ["evals/support.jsonl", "evals/support.yaml"]) {
      write(join("copy", path), ofPage(path));
    }
  });

  /** Runs the steps as GitHub does, up to the first that fails. The packages that `npm ci` installs are those of the project. */
  function runSteps(): number {
    for (const step of steps) {
      if (step === "npm ci") {
        rmSync(join(copy, "node_modules"), { force: true });
        symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
        continue;
      }
      const { PATH = "", HOME = "" } = process.env;
      const bin = `${dirname(process.execPath)}:${PATH}`;
      try {
        const env = { PATH: bin, HOME, GITHUB_STEP_SUMMARY: summary };
        execFileSync("bash", ["-e", "-c", step], { cwd: copy, env, stdio: "pipe" });
      } catch (error) {
        return (error as { status: number }).status;
      }
    }
    return 0;
  }

  test("fails where a threshold is missed, and passes when the cause is gone", () => {
    expect(steps).toContain("npm ci");
    expect(runSteps()).toBe(3);
    expect(readFileSync(summary, "utf8")).toContain("**missed**: shorter: says the amount");
    const better = ofPage("evals/support.yaml").replace(
      "Your refund is",
      "Your refund of 49.90 is",
    );
    write("copy/evals/support.yaml", better);
    expect(runSteps()).toBe(0);
    expect(readFileSync(join(copy, "junit.xml"), "utf8")).toContain('name="support / shorter"');
  });

  test("the page shows what the command prints", async () => {
    write("copy/evals/support.yaml", ofPage("evals/support.yaml"));
    const { stdout } = await inPlace("eval", "copy/evals/support.yaml");
    const shown =
      /```text\n([^]*?)```/.exec(readFileSync(join(ROOT, "docs/evals.md"), "utf8"))?.[1] ?? "";
    for (const line of shown.split("\n")) expect(stdout).toContain(line);
  });
});
