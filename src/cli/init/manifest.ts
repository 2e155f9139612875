import { version } from "../package-root.ts";

/**
 * The package.json of a new project. The versions are those that Troupe is tested with.
 *
 * @param name of the package and its Worker
 */
export function manifest(name: string): object {
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    // The one that runs npm; the project brings its own.
    engines: { node: ">=22.12" },
    scripts: {
      start: "troupe dev",
      test: 'node --test "test/**/*.test.ts"',
      lint: "oxlint",
      types: "tsc",
      build: "wrangler deploy --dry-run --outdir dist",
      deploy: "wrangler deploy",
    },
    dependencies: { troupe: version, zod: "4.6.7" },
    devDependencies: {
      "@cloudflare/workers-types": "5.20260918.1",
      "@types/node": "24.19.2",
      node: "26.10.0",
      oxlint: "1.94.0",
      typescript: "7.0.2",
      wrangler: "4.135.0",
    },
    allowScripts: { esbuild: true, fsevents: true, node: true, workerd: true },
  };
}
