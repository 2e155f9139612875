import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  bindingsElsewhere,
  projectWrangler,
  readWranglerConfig,
  type WranglerConfig,
} from "#cli/build/wrangler-config.ts";
import { writeManifest } from "#cli/build/write-manifest.ts";
import { findBuiltWorker } from "#cli/serve/built-worker.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const HEAD = 'name = "x"\nmain = "worker.js"\ncompatibility_date = "2026-09-18"\n';

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "troupe-build-"));
  mkdirSync(join(root, "dist/parts"), { recursive: true });
  writeFileSync(join(root, "dist/worker.js"), "");
  writeFileSync(join(root, "dist/worker.js.map"), "");
  writeFileSync(join(root, "dist/parts/table.bin"), "");
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function configOf(text: string): WranglerConfig {
  writeFileSync(join(root, "wrangler.toml"), HEAD + text);
  return readWranglerConfig(projectWrangler(ROOT), join(root, "wrangler.toml"), undefined);
}

function manifestOf(text: string): unknown {
  writeManifest(join(root, "dist"), "worker.js", configOf(text));
  return JSON.parse(readFileSync(join(root, "dist/troupe.json"), "utf8"));
}

test("a build describes modules, objects, variables and assets", () => {
  const text = `
[vars]
GREETING = "hello"
LIMITS = { teams = 3 }
[assets]
directory = "public"
binding = "FILES"
run_worker_first = true
[[durable_objects.bindings]]
name = "TEAM"
class_name = "TeamObject"
`;
  expect(manifestOf(text)).toEqual({
    format: 1,
    name: "x",
    modules: [
      { name: "worker.js", type: "esModule" },
      { name: "parts/table.bin", type: "data" },
    ],
    compatibility_date: "2026-09-18",
    compatibility_flags: [],
    objects: { TEAM: "TeamObject" },
    vars: { GREETING: "hello", LIMITS: { teams: 3 } },
    assets: { binding: "FILES", directory: "../public" },
    loaders: [],
    elsewhere: [],
  });
  expect(findBuiltWorker(root).manifest.name).toBe("x");
});

test.each([
  ['[[kv_namespaces]]\nbinding = "KV"\nid = "1"', "KV", "kv_namespaces"],
  ['[[r2_buckets]]\nbinding = "FILES"\nbucket_name = "files"', "FILES", "r2_buckets"],
  ['[ai]\nbinding = "AI"', "AI", "ai"],
  ['[[send_email]]\nname = "SEND_EMAIL"', "SEND_EMAIL", "send_email"],
  ['[[queues.producers]]\nbinding = "QUEUE"\nqueue = "q"', "QUEUE", "queues"],
])("%j is a binding that troupe serve refuses by its name", (text, binding, kind) => {
  expect(bindingsElsewhere(configOf(text))).toEqual([{ binding, kind }]);
  manifestOf(text);
  expect(() => findBuiltWorker(root)).toThrow(
    `has the binding ${binding} (${kind}), which troupe serve does not have.`,
  );
});

test("assets that the Worker does not serve are refused", () => {
  expect(() => manifestOf('[assets]\ndirectory = "public"\n')).toThrow(
    'need "binding" and "run_worker_first = true"',
  );
});

test("a project that was not built is refused with the command that builds it", () => {
  configOf("");
  rmSync(join(root, "dist/troupe.json"), { force: true });
  expect(() => findBuiltWorker(root)).toThrow(
    `There is no built Worker in ${join(root, "dist")}. Build it: npx troupe build`,
  );
});

test.each([
  [
    { modules: [{ name: "../../outside.js", type: "data" }] },
    "modules.0.name: must be a path below",
  ],
  [{ modules: [{ name: "/outside.js", type: "data" }] }, "modules.0.name: must be a path below"],
  [
    { modules: [{ name: "worker.js", type: "python" }] },
    "modules.0.type: must be one of esModule,",
  ],
  [{ modules: [] }, "modules: must be a list with at least one module"],
  [{ format: 2 }, "format: must be 1"],
  [{ objects: { TEAM: 1 } }, "objects: must be an object of texts"],
  [{ assets: { binding: "ASSETS" } }, "assets.directory: must be a text"],
  [{ elsewhere: ["KV"] }, "elsewhere.0: must be an object"],
  [{ color: "red" }, "color: is not a known field"],
])("a description with %j is refused with the field", (change, message) => {
  manifestOf("");
  const file = join(root, "dist/troupe.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...manifest, ...change }));
  expect(() => findBuiltWorker(root)).toThrow(`${file} is invalid: ${message}`);
});
