// `npm run api` writes docs/api: the public API of each entry of the package, made by API Extractor from the declarations. With
// --check it says whether that is what the repository has. Either way it refuses types that an export mentions and no entry
// exports, and exports that have the name of a global.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from "@microsoft/api-extractor";

const root = resolve(import.meta.dirname, "../..");
const committed = join(root, "docs/api");
const compiler = join(root, "node_modules/typescript/bin/tsc");
/** The compiler that API Extractor brings with it, as files. */
const library = dirname(
  createRequire(import.meta.resolve("@microsoft/api-extractor")).resolve("typescript"),
);

/**
 * Names of exports that are also names of types, not of values, in the runtime of Workers: of queues, and of what Workers AI
 * takes. All but the first are AutoGen's.
 */
const SHARED_NAMES = new Set([
  "Message",
  "AssistantMessage",
  "SystemMessage",
  "UserMessage",
  "Tool",
  "Image",
]);

/** @typedef {{ name: string, types: string[], file: string }} Entry */

/** Below the repository, so that the packages of the declarations are found. */
mkdirSync(join(root, ".troupe"), { recursive: true });
const scratch = mkdtempSync(join(root, ".troupe/api-"));
try {
  const entries = entriesOfPackage();
  declare();
  const { reports, mentioned } = reportsOf(entries);
  const exported = new Set([...reports.values()].flatMap(exportedNames));
  const problems = [
    ...missing(mentioned, exported),
    ...shadowing(exported),
    ...(process.argv.includes("--check") ? stale(reports) : []),
  ];
  if (!process.argv.includes("--check")) write(reports);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** All but the command line, whose function takes arguments as they are typed. @returns {Entry[]} */
function entriesOfPackage() {
  /** @type {{ exports: Record<string, string> }} */
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([name, source]) => source.startsWith("./src/") && name !== "./cli")
    .map(([name, source]) => ({
      name: name === "." ? "troupe" : `troupe-${name.slice(2)}`,
      // The other entries do not need the types of Workers, which have common names.
      types: name === "./worker" ? ["@cloudflare/workers-types"] : [],
      file: join(scratch, source.slice("./src/".length).replace(/\.tsx?$/, ".d.ts")),
    }));
}

/** Writes the declarations of the package. */
function declare() {
  const only = ["--emitDeclarationOnly", "--declarationMap", "false", "--sourceMap", "false"];
  const project = join(root, "tsconfig.package.json");
  execFileSync(process.execPath, [compiler, "-p", project, "--outDir", scratch, ...only], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}

/**
 * The reports by their names, and the types that exports mention and their own entry does not export.
 *
 * @param {Entry[]} entries
 */
function reportsOf(entries) {
  /** @type {Map<string, string>} */
  const reports = new Map();
  /** @type {{ entry: string, type: string }[]} */
  const mentioned = [];
  /** @type {Map<string, CompilerState>} */
  const states = new Map();
  mkdirSync(join(scratch, "reports"));
  for (const entry of entries) {
    const config = extractorConfig(entry);
    const platform = entry.types.join();
    const state =
      states.get(platform) ??
      CompilerState.create(config, {
        additionalEntryPoints: entries
          .filter(({ types }) => types.join() === platform)
          .map(({ file }) => file),
      });
    states.set(platform, state);
    Extractor.invoke(config, {
      localBuild: true,
      compilerState: state,
      messageCallback(message) {
        message.handled = true;
        if (message.logLevel === ExtractorLogLevel.Error)
          throw new Error(`${entry.name}: ${message.text}`);
        const [, type] =
          /The symbol "(\w+?)(?:_\d+)?" needs to be exported/.exec(message.text) ?? [];
        if (type !== undefined) mentioned.push({ entry: entry.name, type });
      },
    });
    reports.set(entry.name, readFileSync(config.reportFilePath, "utf8"));
  }
  return { reports, mentioned };
}

/** @param {Entry} entry */
function extractorConfig({ name, types, file }) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: file,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "ES2023",
            lib: ["ES2023", "ESNext.Disposable", ...(types.length > 0 ? [] : ["DOM"])],
            types,
            typeRoots: [join(root, "node_modules"), join(root, "node_modules/@types")],
            module: "ESNext",
            moduleResolution: "bundler",
            strict: true,
            skipLibCheck: true,
            noEmit: true,
            allowImportingTsExtensions: true,
          },
          files: [file],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: join(scratch, "reports"),
        reportTempFolder: join(scratch, "new-reports"),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, "package.json"),
  });
}

/** @param {string} report @returns {string[]} */
function exportedNames(report) {
  const declared = /^export (?:abstract )?(?:class|const|function|interface|type) (\w+)/gm;
  const renamed = /^export \{ (?:\w+ as )?(\w+) \}/gm;
  return [...report.matchAll(declared), ...report.matchAll(renamed)].map(([, name = ""]) => name);
}

/** @param {{ entry: string, type: string }[]} mentioned @param {Set<string>} exported @returns {string[]} */
function missing(mentioned, exported) {
  return mentioned
    .filter(({ type }) => !exported.has(type))
    .map(({ entry, type }) => `${entry}: an export mentions ${type}, which no entry exports`);
}

/** @param {Set<string>} exported @returns {string[]} */
function shadowing(exported) {
  const globals = globalNames();
  return [...exported]
    .filter((name) => globals.has(name) && !SHARED_NAMES.has(name))
    .map((name) => `the export ${name} has the name of a global`);
}

/** What is global in Node, browsers or Workers, types included. */
function globalNames() {
  const names = new Set(Object.getOwnPropertyNames(globalThis));
  const files = readdirSync(library)
    .filter((file) => /^lib\..*\.d\.ts$/.test(file))
    .map((file) => join(library, file));
  for (const file of [...files, join(root, "node_modules/@cloudflare/workers-types/index.d.ts")]) {
    const declared =
      /^(?:declare )?(?:abstract )?(?:class|const|function|interface|let|type|var) (\w+)/gm;
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(declared)) names.add(name);
  }
  return names;
}

/** @param {Map<string, string>} reports @returns {string[]} */
function stale(reports) {
  const old = new Map(
    readdirSync(committed).map((file) => [
      basename(file, ".api.md"),
      readFileSync(join(committed, file), "utf8"),
    ]),
  );
  return [...new Set([...reports.keys(), ...old.keys()])]
    .filter((name) => reports.get(name) !== old.get(name))
    .map((name) => `docs/api/${name}.api.md is not that of these sources: npm run api`);
}

/** @param {Map<string, string>} reports */
function write(reports) {
  rmSync(committed, { recursive: true, force: true });
  mkdirSync(committed);
  for (const [name, report] of reports) writeFileSync(join(committed, `${name}.api.md`), report);
}
