import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Tests that need workerd: all of test/durable, and what is named so elsewhere (the suites both hosts run). */
const workerd = ["test/durable/**/*.test.ts", "test/**/*.workerd.test.ts"];

/**
 * `npm run test:long`: what takes long, though it is covered in part by shorter tests. Programs of pages, browsers, terminals,
 * `npm start`, loads and attacks.
 */
const long = [
  "test/bench/main.test.ts",
  "test/cli/{commands,kill,questions,run}.test.ts",
  "test/conformance/main.test.ts",
  "test/console/!(serving).test.ts",
  "test/docs.test.ts",
  "test/e2e/{a2a,large-state,makers,python-tools,spinning-run,stored-secrets}.test.ts",
  "test/examples.test.ts",
  "test/fuzz/*.test.ts",
  "test/mcp/program-starts.test.ts",
  "test/npm-start/*.test.ts",
  "test/protocols/a2a/push-kill.test.ts",
  "test/protocols/ai-sdk/{life,page}.test.ts",
  "test/protocols/mcp/{runs,sessions}.test.ts",
  "test/protocols/openai/{hosts,kill,page}.test.ts",
  "test/models/makers/matrix.test.ts",
  "test/{client,telemetry}/kill.test.ts",
  "test/react/{kill,page,use-inbox,use-team}.test.ts",
  "test/sandbox/{fair-shares,falling-walls,isolations}.test.ts",
  "test/sandbox/wasm/attacks.test.ts",
];

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

/** For what hangs, not for what is slow: a machine may be busy. Projects do not inherit it. */
const patience = {
  testTimeout: 30_000,
  hookTimeout: 30_000,
  expect: { poll: { timeout: 20_000 } },
};

/** Compilers and bundlers of others take their time. */
const packedPatience = { testTimeout: 300_000, hookTimeout: 300_000 };

/** npm downloads hundreds of megabytes from the registry. */
const installPatience = { testTimeout: 900_000, hookTimeout: 300_000 };

/** What tests over HTTP run is built once, as it is deployed. */
const globalSetup = "test/support/built-worker.ts";

export default defineConfig({
  test: {
    // The default leaves one core idle, which on two is half the machine.
    maxWorkers: availableParallelism(),
    coverage: { provider: "istanbul", include: ["src/**/*.ts"] },
    projects: [
      {
        // Files share a worker's modules: loading the library anew for each file took most of the time.
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          exclude: [...workerd, ...long, ...features.include, ...packed.include],
          isolate: false,
          globalSetup,
          ...patience,
        },
      },
      {
        test: { name: "long", include: long, isolate: false, globalSetup, ...patience },
      },
      {
        test: { name: "features", ...features, isolate: false, ...patience },
      },
      {
        test: { name: "package", ...packed, exclude: [...installed, ...named], ...packedPatience },
      },
      {
        test: { name: "package-long", ...packed, include: installed, ...installPatience },
      },
      {
        test: { name: "package-named", ...packed, include: named, ...installPatience },
      },
      {
        plugins: [
          cloudflareTest({ wrangler: { configPath: "./test/durable/support/wrangler.toml" } }),
        ],
        test: { name: "workerd", include: workerd, isolate: false, ...patience },
      },
    ],
  },
});
