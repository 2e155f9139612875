import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import * as z from "zod";
import { CONFIGURATIONS } from "../serve/built-worker.ts";
import { MANIFEST } from "../serve/manifest.ts";
import { CliError } from "../terminal/errors.ts";
import { assetsOf, projectWrangler, readWranglerConfig } from "./wrangler-config.ts";
import { writeManifest } from "./write-manifest.ts";

export interface BuildOptions {
  /** The directory of the project. */
  root: string;
  /** The environment of the configuration; undefined for the top level. */
  env: string | undefined;
}

/**
 * Builds a project's Worker into `dist`, as `wrangler deploy` would upload it, with its static assets. The former build is
 * replaced when the new one is complete.
 *
 * @returns the directory
 * @throws CliError
 */
export async function buildProject({ root, env }: BuildOptions): Promise<string> {
  const name = CONFIGURATIONS.find((one) => existsSync(join(root, one)));
  if (name === undefined) {
    throw new CliError(
      `There is no wrangler.toml in ${root}. Run this command in your project, or create one: npx troupe init`,
      { code: "no_project" },
    );
  }
  const wrangler = projectWrangler(root);
  const config = readWranglerConfig(wrangler, join(root, name), env);
  const assets = assetsOf(config);
  const { main } = z.looseObject({ main: z.string() }).parse(config);
  requireOwnDist(root, resolve(root, main), assets?.directory);
  const unfinished = join(root, `.dist.${process.pid}`);
  try {
    await bundle(wrangler.program, root, unfinished, env);
    if (assets !== null) cpSync(assets.directory, join(unfinished, "assets"), { recursive: true });
    const entry = basename(main).replace(/\.[cm]?[jt]sx?$/, ".js");
    writeManifest(
      unfinished,
      entry,
      config,
      assets === null ? undefined : join(unfinished, "assets"),
    );
    rmSync(join(root, "dist"), { recursive: true, force: true });
    renameSync(unfinished, join(root, "dist"));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return join(root, "dist");
}

/**
 * Refuses to replace a `dist` that something else has written, except by the build that the configuration names.
 *
 * @throws CliError
 */
function requireOwnDist(root: string, main: string, assets: string | undefined): void {
  const dist = join(root, "dist");
  if (assets !== undefined && `${assets}${sep}`.startsWith(`${dist}${sep}`)) {
    throw new CliError(
      "The static assets are in dist, which this command replaces: let their build write to another directory, and name it in assets.directory.",
      { code: "dist_in_use" },
    );
  }
  if (!existsSync(dist) || existsSync(join(dist, MANIFEST)) || dirname(main) === dist) return;
  throw new CliError(
    "dist has files that troupe build did not write, and would replace: move or delete them.",
    { code: "dist_in_use" },
  );
}

async function bundle(
  program: string,
  root: string,
  directory: string,
  env: string | undefined,
): Promise<void> {
  const environment = env === undefined ? [] : ["--env", env];
  const child = spawn(
    process.execPath,
    [program, "deploy", "--dry-run", "--outdir", directory, ...environment],
    {
      cwd: root,
      // It lists each module of the bundle.
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
    },
  );
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0)
    throw new CliError("Wrangler could not build the Worker.", { code: "build_failed" });
}
