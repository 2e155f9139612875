import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { PATIENCE } from "./test/support/patience.ts";

/** The tests of `src`, and those that stand in their workspaces. */
const TESTS = "{test,bench/test,console/test,sandbox/test}/**";

/** Tests that run inside workerd. */
const workerd = [`${TESTS}/*.workerd.test.ts`];

/**
 * `npm run test:long`: what takes long, though it is covered in part by shorter tests. Programs of pages, browsers, terminals,
 * `npm start`, loads and attacks, Workers that are built for one file, and files that start several Workers or sandboxes.
 */
const long = [`${TESTS}/*.long.test.ts`];

/** Tests with clients and frameworks of other makers, whose packages are those of test/peers. */
const peers = [`${TESTS}/*.peers.test.ts`];

/** Tests of features against one `npm start`, which is started before the first of them. */
const features = {
  include: ["test/npm-start/features/*.test.ts"],
  globalSetup: "test/npm-start/features/support/shared-server.ts",
};

/** Tests of the package that `npm pack` makes, which is packed before the first of them. */
const packed = { include: ["test/package/*.test.ts"], globalSetup: "test/package/support/pack.ts" };

/** Those that install it with npm, from the registry. */
const installed = ["test/package/*.long.test.ts"];

/** Those that install more than a run of all tests should: only when they are asked for. */
const named = ["test/package/*.named.test.ts"];

/** Packages that folders of tests have of their own, with tests of their makers. */
const packages = ["**/node_modules/**"];

/**
 * For what hangs, not for what is slow: a machine may be busy. No test has a smaller limit of its own. Projects do not inherit it.
 */
const patience = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: PATIENCE.timeout } },
};

/** Browsers, `npm start` and terminals take several seconds of a fast machine, and ten times as long where others work, too. */
const longPatience = {
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: PATIENCE.timeout } },
};

/** Compilers and bundlers of others take their time. */
const packedPatience = { testTimeout: 300_000, hookTimeout: 300_000 };

/** npm downloads hundreds of megabytes from the registry. */
const installPatience = { testTimeout: 900_000, hookTimeout: 300_000 };

/**
 * Tests that try many cases in turn try a sample of them unless `npm test -- --all` asks for all, and one row of a matrix unless
 * `npm run test:matrix` asks for each. Properties are checked with the same cases in each run, and with others for another seed.
 */
const provide = {
  allCases: process.env["TROUPE_TEST_ALL_CASES"] === "1",
  allRows: process.env["TROUPE_TEST_ALL_ROWS"] === "1",
  propertySeed: Number(process.env["TROUPE_TEST_SEED"] ?? 1),
};

const setupFiles = "test/support/property-seed.ts";

/** What tests over HTTP run is built once, as it is deployed. */
const globalSetup = "test/support/built-worker.ts";

/**
 * These tests reach servers of this machine only. Without this, miniflare would copy the certificates that the environment names
 * into the configuration of each Worker.
 */
const LOCAL_ONLY = { NODE_EXTRA_CA_CERTS: "" };

export default defineConfig({
  test: {
    // The default leaves one core idle, which on two is half the machine.
    maxWorkers: availableParallelism(),
    coverage: { provider: "istanbul", include: ["src/**/*.ts"] },
    projects: [
      {
        // Files share a worker's modules: loading the library again for each file took most of the time.
        test: {
          name: "node",
          include: [`${TESTS}/*.test.ts`],
          exclude: [
            ...packages,
            ...workerd,
            ...long,
            ...peers,
            ...features.include,
            ...packed.include,
          ],
          isolate: false,
          globalSetup,
          provide,
          setupFiles,
          env: LOCAL_ONLY,
          ...patience,
        },
      },
      {
        test: {
          name: "long",
          include: long,
          exclude: [...packages, ...packed.include],
          isolate: false,
          globalSetup,
          provide,
          setupFiles,
          ...longPatience,
        },
      },
      {
        test: {
          name: "peers",
          include: peers,
          exclude: [...packages, ...features.include, ...packed.include],
          isolate: false,
          globalSetup,
          provide,
          setupFiles,
          ...longPatience,
        },
      },
      {
        test: { name: "features", ...features, isolate: false, ...longPatience },
      },
      {
        test: { name: "package", ...packed, exclude: [...installed, ...named], ...packedPatience },
      },
      {
        test: { name: "package-long", ...packed, include: installed, provide, ...installPatience },
      },
      {
        test: { name: "copilotkit", ...packed, include: named, ...installPatience },
      },
      {
        plugins: [
          cloudflareTest({ wrangler: { configPath: "./test/team/support/wrangler.toml" } }),
        ],
        test: {
          name: "workerd",
          include: workerd,
          isolate: false,
          provide,
          setupFiles,
          ...patience,
        },
      },
    ],
  },
});
