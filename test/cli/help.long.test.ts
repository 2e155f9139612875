import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test, vi } from "vitest";
import { EXIT } from "#cli/terminal/errors.ts";
import { main } from "#cli/index.ts";
import { createProgram } from "#cli/program.ts";
import { file, read, snippet } from "../support/pages.ts";
import { TestWorker } from "../support/worker.ts";
import { troupe } from "./support/command.ts";

const PAGE = "docs/cli.md";

function commandsBelow(command: Command, path = "troupe"): { path: string; command: Command }[] {
  return command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`;
    return one.commands.length > 0 ? commandsBelow(one, name) : [{ path: name, command: one }];
  });
}

const commands = commandsBelow(await createProgram());

test.for(commands)("the help of $path has an example", async ({ path }) => {
  const { exitCode } = process;
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await main([...path.split(" ").slice(1), "--help"]);
  const stdout = write.mock.calls.map(([text]) => String(text)).join("");
  write.mockRestore();
  process.exitCode = exitCode;
  expect(stdout).toContain(`Usage: ${path} `);
  expect(stdout).toMatch(/^Example:\n {2}\$ .*npx troupe /m);
});

test("the page names every command, option and exit code", () => {
  const page = read(PAGE);
  for (const { path, command } of commands) {
    expect(page).toContain(`\`${path}`);
    for (const { long } of command.options) expect(page).toContain(`\`${long}`);
  }
  for (const code of Object.values(EXIT)) expect(page).toContain(`| ${code} | `);
});

test("the commands of the page have the effect that it describes", async () => {
  await using worker = await TestWorker.start();
  const cwd = mkdtempSync(join(tmpdir(), "troupe-page-"));
  writeFileSync(join(cwd, "team.json"), file("team.json"));
  const lines = snippet("A project", "sh", 0, PAGE).trim().split("\n");
  const outputs: string[] = [];
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
    expect(words.slice(0, 2)).toEqual(["npx", "troupe"]);
    const { code, stdout } = await troupe(words.slice(2), { cwd, url: await worker.origin });
    expect(code, line).toBe(0);
    outputs.push(stdout);
  }
  rmSync(cwd, { recursive: true, force: true });
  const [run = "", logs, imported, inbox] = outputs;
  expect(run).toMatch(/^user: Write about a lighthouse\.\nwriter: /);
  expect(logs).toContain("critic: ");
  expect(imported).toBe("reception\n");
  expect(inbox).toBe("No questions are open.\n");
});

test.for([
  [[], 2],
  [["dance"], 2],
  [["run"], 2],
  [["run", "x", "y", "--on-conflict", "shout"], 2],
  [["run", "x", "y", "--template", "a", "--component", "b"], 2],
  [["dev", "--auth=yes"], 2],
  [["dev"], 1],
  [["--help"], 0],
  [["--version"], 0],
] as const)("troupe %j ends with %i", async ([args, expected]) => {
  const { code, stdout, stderr } = await troupe(args, { cwd: tmpdir() });
  expect(code).toBe(expected);
  expect(expected === 0 ? stderr : stdout).toBe("");
  expect(`${stdout}${stderr}`).not.toMatch(/^ {4}at /m);
});
