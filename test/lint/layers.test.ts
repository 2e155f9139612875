import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Runs the real linter with the real configuration on files that break one rule each.

const root = join(import.meta.dirname, "../..");

const refused: Record<string, { file: string; text: string; says: string }> = {
  "a comment that begins with `of`": {
    file: "src/core/words/a.ts",
    text: "/** Of the last run. */\nexport const x = 1;",
    says: "does not begin with `of`",
  },
  "a parameter whose description begins with `of`": {
    file: "src/core/words/b.ts",
    text: "/** Adds a run. @param id of the run */\nexport const x = (id: string) => id;",
    says: "does not begin with `of`",
  },
  "a phrase over two lines of a comment": {
    file: "src/core/words/c.ts",
    text: "// A watcher that comes back is\n// told what it missed.\nexport const x = 1;",
    says: "say reported",
  },
  "words in place of a subject": {
    file: "src/core/words/d.ts",
    text: "/** Waits until nobody reads. */\nexport const x = 1;",
    says: "name who",
  },
  "a title of a test that begins with a preposition": {
    file: "test/words/a.test.ts",
    text: 'import { test } from "vitest";\ntest.each([1])("with %s it ends", () => {});',
    says: "not with a preposition",
  },
  "a title of a test without a subject": {
    file: "test/words/b.test.ts",
    text: 'import { test } from "vitest";\ntest("is refused", () => {});',
    says: "begin with a subject",
  },
  "a text cut where a character may be": {
    file: "src/core/words/e.ts",
    text: "const LONGEST = 9;\nexport const x = (text: string) => text.slice(0, LONGEST - 1);",
    says: "cut texts with beginningOf or endOf",
  },
  "a text cut and shown with dots": {
    file: "src/core/words/f.ts",
    text: "export const x = (text: string, most: number) => `${text.slice(0, most)}…`;",
    says: "cut texts with beginningOf or endOf",
  },
  "core imports a layer above it": {
    file: "src/core/agents/a.ts",
    text: 'export { x } from "../../components/models/x.ts";',
    says: "src/core/ may not import src/components/models/x.ts",
  },
  "the console imports src": {
    file: "console/a.ts",
    text: 'export { x } from "#client/x.ts";',
    says: "the console may not import #client/x.ts",
  },
  "the console imports another entry": {
    file: "console/b.ts",
    text: 'export * from "troupe/worker";',
    says: "the console may not import troupe/worker",
  },
  "core at its top level imports a layer above it": {
    file: "src/core/b.ts",
    text: 'export * from "../team/x.ts";',
    says: "src/core/ may not import src/team/x.ts",
  },
  "core imports a type of the platform": {
    file: "src/core/c.ts",
    text: 'export type X = import("cloudflare:workers").DurableObject;',
    says: "src/core/ may not import cloudflare:workers",
  },
  "core imports a package of Node": {
    file: "src/core/d.ts",
    text: 'import { readFile } from "node:fs/promises";\nexport { readFile };',
    says: "src/core/ may not import node:fs/promises",
  },
  "core imports at run time": {
    file: "src/core/e.ts",
    text: 'export const x = () => import("openai");',
    says: "src/core/ may not import openai",
  },
  "core loads the tokeniser at once": {
    file: "src/core/f.ts",
    text: 'import { getEncoding } from "js-tiktoken";\nexport { getEncoding };',
    says: "load js-tiktoken lazily",
  },
  "models import the sandbox": {
    file: "src/components/models/a.ts",
    text: 'export { x } from "../sandbox/x.ts";',
    says: "src/components/models/ may not import src/components/sandbox/x.ts",
  },
  "sandbox imports the platform": {
    file: "src/components/sandbox/a.ts",
    text: 'import { env } from "cloudflare:workers";\nexport { env };',
    says: "src/components/sandbox/ may not import cloudflare:workers",
  },
  "the team's object imports http": {
    file: "src/team/object/a.ts",
    text: 'export { x } from "../../api/http/x.ts";',
    says: "src/team/object/ may not import src/api/http/x.ts",
  },
  "storage imports the engine": {
    file: "src/team/storage/a.ts",
    text: 'export { x } from "../engine/x.ts";',
    says: "src/team/storage/ may not import src/team/engine/x.ts",
  },
  "the team's object imports the tenant's": {
    file: "src/team/object/b.ts",
    text: 'export { x } from "../../tenant/object/x.ts";',
    says: "src/team/object/ may not import src/tenant/object/x.ts",
  },
  "the command line imports the engine": {
    file: "src/cli/a.ts",
    text: 'export { x } from "../team/x.ts";',
    says: "src/cli/ may not import src/team/x.ts",
  },
  "the client imports the command line": {
    file: "src/client/b.ts",
    text: 'export { x } from "../cli/x.ts";',
    says: "src/client/ may not import src/cli/x.ts",
  },
  "http imports the team's object": {
    file: "src/api/http/a.ts",
    text: 'export type { X } from "../../team/x.ts";',
    says: "src/api/http/ may not import src/team/x.ts",
  },
  "protocols import agents": {
    file: "src/api/protocols/a/b.ts",
    text: 'export { x } from "../../../core/agents/x.ts";',
    says: "src/api/protocols/ may not import src/core/agents/x.ts",
  },
  "client imports http": {
    file: "src/client/a.ts",
    text: 'export { x } from "../api/http/x.ts";',
    says: "src/client/ may not import src/api/http/x.ts",
  },
  "testing imports models": {
    file: "src/testing/a.ts",
    text: 'export { x } from "../components/models/x.ts";',
    says: "src/testing/ may not import src/components/models/x.ts",
  },
  "the library entry imports the team's object": {
    file: "src/index.ts",
    text: 'export { x } from "./team/x.ts";',
    says: "src/index.ts may not import src/team/x.ts",
  },
  "a folder without a layer": {
    file: "src/utils/a.ts",
    text: 'export { x } from "../core/x.ts";',
    says: "src/utils/a.ts belongs to no layer",
  },
  "a named import of zod": {
    file: "src/core/z.ts",
    text: 'import { z } from "zod";\nexport { z };',
    says: "import * as z",
  },
  "a default import of zod in a test": {
    file: "test/z.test.ts",
    text: 'import z from "zod";\nexport { z };',
    says: "import * as z",
  },
  "a relative path into src in a test": {
    file: "test/core/a.test.ts",
    text: 'export { x } from "../../src/core/x.ts";',
    says: "import src by the package's entry",
  },
  "a relative path into src in a test, at run time": {
    file: "test/core/b.test.ts",
    text: 'export const x = (): Promise<unknown> => import("../../src/core/x.ts");',
    says: "import src by the package's entry",
  },
  "an open end": { file: "src/core/t.ts", text: "// TODO later\nexport {};", says: "todo" },
  any: { file: "src/core/any.ts", text: "export const x: any = 1;", says: "any" },
  "a promise that is not awaited": {
    file: "src/core/p.ts",
    text: "export function f(g: () => Promise<void>): void {\n  g();\n}",
    says: "Promises must be awaited",
  },
  "the hooks import what crosses the wire": {
    file: "src/react/a.ts",
    text: 'export type { RunInfo } from "../contract/run.ts";',
    says: "src/react/ may not import src/contract/run.ts",
  },
  "a cycle": {
    file: "src/core/cycle.ts",
    text: 'import { y } from "./cycle-2.ts";\nexport const x = (): number => y();',
    says: "cycle",
  },
};

const accepted: Record<string, string> = {
  "src/core/cycle-2.ts": 'import { x } from "./cycle.ts";\nexport const y = (): number => x();',
  "src/core/agents/ok.ts":
    'import * as z from "zod";\nimport type { Tiktoken } from "js-tiktoken";\nimport { x } from "../x.ts";\n' +
    'export const load = (): Promise<unknown> => import("js-tiktoken/lite");\nexport { z, x };\nexport type { Tiktoken };',
  "src/core/x.ts": "/** The last of the runs. @returns a run, one of many */\nexport const x = 1;",
  "src/components/models/ok.ts":
    'import OpenAI from "openai";\nimport { x } from "../../core/x.ts";\nexport { OpenAI, x };',
  "src/api/protocols/ok.ts": 'export type { TeamInfo } from "../../contract/gateway.ts";',
  "test/core/ok.test.ts": 'export { y } from "../support.ts";\nexport { x } from "#core/x.ts";',
  "test/support.ts": "export const y = 1;",
  "src/service/worker.ts": 'export * from "../team/x.ts";\nexport * from "../api/http/x.ts";',
};

/** The files the cycle rule needs both to be there; every other accepted file must be clean. */
const partOfCycle = "src/core/cycle-2.ts";

let found: { file: string; message: string }[];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-lint-"));
  const configs = ["base", "browser", "console", "core", "node", "peers", "src", "workerd"].map(
    (name) => `tsconfig.${name}.json`,
  );
  for (const name of [".oxlintrc.json", "scripts/lint", "tsconfig.json", ...configs]) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const files = { ...accepted };
  for (const { file, text } of Object.values(refused)) files[file] = text;
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `${text}\n`);
  }
  found = await lint(folder);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("the linter refuses", () => {
  for (const [name, { file, says }] of Object.entries(refused)) {
    test(name, () => {
      const messages = found.filter((one) => one.file === file).map((one) => one.message);
      expect(messages.join("\n").toLowerCase()).toContain(says.toLowerCase());
    });
  }
});

describe("the linter accepts", () => {
  for (const file of Object.keys(accepted).filter((name) => name !== partOfCycle)) {
    test(file, () => {
      expect(found.filter((one) => one.file === file)).toEqual([]);
    });
  }
});

async function lint(cwd: string): Promise<{ file: string; message: string }[]> {
  const output = await new Promise<string>((done) => {
    execFile(
      process.execPath,
      [
        join(root, "node_modules/oxlint/bin/oxlint"),
        "--type-aware",
        "--format=json",
        "console",
        "src",
        "test",
      ],
      { cwd, maxBuffer: 1 << 24 },
      (_error, stdout) => done(stdout),
    );
  });
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { filename: string; message: string }[];
  };
  return diagnostics.map(({ filename, message }) => ({ file: filename, message }));
}
