import { availableParallelism } from "node:os";
import { join } from "node:path";
import { OWN_CODE, OWN_FILES } from "./own-files.mjs";

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {string[]} run the command, found in node_modules/.bin
 * @property {"vitest" | "lastLine"} [counts] how its tests are counted; without it, the stage counts as one
 * @property {string[]} [reads] the paths that its outcome depends on; without it, all files
 * @property {string} [packages] the folder of a package.json whose packages it needs besides those of `npm ci`
 * @property {true} [long] whether it is left out of `npm test`
 * @property {true} [named] whether it runs only when it is named
 * @property {Record<string, string>} [env] variables that it has besides those of all stages
 * @property {true} [bare] whether programs are found as on a bare machine
 */

/** Tests of code that starts programs. They must pass, or skip themselves, on a machine that has hardly any. */
const PROGRAM_TESTS = [
  "sandbox/test/executions.test.ts",
  "sandbox/test/files.test.ts",
  "sandbox/test/http.test.ts",
  "sandbox/test/process.long.test.ts",
  "sandbox/test/walls.long.test.ts",
  "sandbox/test/cgroups.test.ts",
  "test/core/python/prepare.long.test.ts",
  "test/api/http/python-tools.test.ts",
  "test/npm-start/start.long.test.ts",
];

/** Clients, frameworks and checks of other makers. */
const PEERS = "test/peers";

/** What needs the types of their packages: as `exclude` of tsconfig.node.json has it. */
const WITH_PEERS = [
  "**/*.peers.test.ts",
  "test/api/protocols/ag-ui/support/agents.ts",
  "test/api/protocols/ai-sdk/support/*.ts",
  "test/suites/dojo/**",
  "test/telemetry/support/collector.ts",
];

/** The official conformance suite of MCP. */
const MCP_SUITE = "test/mcp-conformance/suite";

/** Files that determine how all code is checked and run. */
const SETTINGS = [
  ".oxlintrc.json",
  "knip.json",
  "package.json",
  "package-lock.json",
  "scripts",
  "tsconfig*.json",
  "types",
  "vitest.config.ts",
  "wrangler.toml",
];

const CODE = [...SETTINGS, ...OWN_CODE];

/** The stages that read the code and run none of it: `npm test -- checks`. */
export const CHECKS = ["format", "small-files", "types", "lint", "dead-code"];

/**
 * The projects of TypeScript. One compiler checks them one after the other, each with one thread: several threads check the types
 * that files share once each, which takes twice the computing, and other stages use the other cores. All of src is checked here, too,
 * because tests and pages import it; the stage `types:src` checks that it needs nothing of theirs. An error in a file that several
 * projects have is printed once.
 */
const TYPES = ["core", "node", "workerd", "browser", "console"].map(
  (project) => `tsconfig.${project}.json`,
);

/**
 * The checkers of types are Go programs, which end before they would run out of memory. Collected less often, they take a quarter
 * less computing; close to the limit they collect as often as they must.
 */
const RARE_COLLECTIONS = { GOGC: "400", GOMEMLIMIT: "3GiB" };

/**
 * The two largest suites of `npm test` begin first and the short stages fill what is left, so that neither of two cores waits for the
 * other at the end.
 *
 * @param {string} scratch a directory for what stages write
 * @returns {Stage[]}
 */
export function stagesIn(scratch) {
  /** @param {string | string[]} projects @param {string} [stage] @param {string[]} [files] */
  const vitest = (projects, stage = String(projects), files = []) => [
    "vitest",
    "run",
    ...[projects].flat().map((project) => `--project=${project}`),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile(scratch, stage)}`,
    ...files,
  ];
  return [
    { name: "node", run: vitest("node"), counts: "vitest" },
    { name: "format", run: ["oxfmt", "--check", ...OWN_FILES] },
    {
      name: "small-files",
      run: ["node", "scripts/check/small-files.mjs"],
      reads: CODE,
    },
    {
      name: "workerd",
      run: vitest("workerd"),
      counts: "vitest",
      reads: [...SETTINGS, "src", "test"],
    },
    {
      name: "types",
      run: ["node", "scripts/check/types.mjs", ...TYPES],
      reads: CODE,
      env: RARE_COLLECTIONS,
    },
    {
      name: "lint",
      run: [
        "oxlint",
        "--type-aware",
        ...WITH_PEERS.map((path) => `--ignore-pattern=${path}`),
        ...OWN_CODE,
      ],
      reads: CODE,
      env: RARE_COLLECTIONS,
    },
    { name: "dead-code", run: ["knip", "--no-progress", "--no-config-hints"], reads: CODE },
    {
      name: "conformance",
      run: ["node", "test/conformance/main.ts"],
      counts: "lastLine",
      reads: [...SETTINGS, "src", "test"],
    },
    {
      name: "bundle",
      run: ["wrangler", "deploy", "--dry-run", "--outdir", join(scratch, "bundle")],
      long: true,
    },
    {
      name: "api",
      run: ["node", "scripts/api/report.mjs", "--check"],
      packages: "scripts/api",
      long: true,
    },
    { name: "docs", run: ["node", "scripts/site/build.mjs"], long: true },
    { name: "outdated", run: ["node", "scripts/outdated.mjs"], long: true },
    {
      name: "types:src",
      run: ["tsc", "-p", "tsconfig.src.json", "--checkers", "1"],
      env: RARE_COLLECTIONS,
      long: true,
    },
    { name: "lint:peers", run: ["oxlint", "--type-aware", "test"], packages: PEERS, long: true },
    { name: "types:peers", run: ["tsc", "-p", "tsconfig.peers.json"], packages: PEERS, long: true },
    { name: "package", run: vitest("package"), counts: "vitest", packages: PEERS, long: true },
    { name: "package-long", run: vitest("package-long"), counts: "vitest", long: true },
    { name: "copilotkit", run: vitest("copilotkit"), counts: "vitest", named: true },
    {
      name: "long",
      // Many of them wait for processes, timeouts and pages, so that a core would be idle with one worker for each.
      run: [...vitest("long"), `--maxWorkers=${availableParallelism() + 1}`],
      counts: "vitest",
      packages: PEERS,
      long: true,
    },
    { name: "peers", run: vitest("peers"), counts: "vitest", packages: PEERS, long: true },
    { name: "features", run: vitest("features"), counts: "vitest", packages: PEERS, long: true },
    {
      name: "bare-machine",
      run: vitest(["node", "long"], "bare-machine", PROGRAM_TESTS),
      counts: "vitest",
      bare: true,
      long: true,
    },
    {
      name: "conformance:http",
      run: ["node", "test/conformance/main.ts", "--http"],
      counts: "lastLine",
      long: true,
    },
    {
      name: "conformance:mcp",
      run: ["node", "test/mcp-conformance/main.ts"],
      packages: MCP_SUITE,
      long: true,
    },
    { name: "chaos", run: ["node", "test/chaos/main.ts"], counts: "lastLine", long: true },
    { name: "bench", run: ["node", "bench/main.ts", "--smoke", "chat", "watchers"], long: true },
    {
      name: "mcp:client",
      run: ["node", "test/components/mcp/conformance/main.ts"],
      packages: MCP_SUITE,
      long: true,
    },
  ];
}

/** Where vitest writes the report of a stage. @param {string} scratch @param {string} stage */
export function reportFile(scratch, stage) {
  return join(scratch, `${stage}.json`);
}
