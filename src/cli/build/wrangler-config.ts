import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { CliError } from "../terminal/errors.ts";

const bindings = z.array(
  z.looseObject({ binding: z.string().optional(), name: z.string().optional() }),
);

/** The part of a project's configuration that a build reads, in the form that wrangler gives it. */
const configSchema = z.looseObject({
  configPath: z.string(),
  name: z.string({ error: "name is missing: the Worker needs one" }),
  compatibility_date: z.string({ error: "compatibility_date is missing" }),
  compatibility_flags: z.array(z.string()),
  vars: z.record(z.string(), z.json()),
  durable_objects: z.looseObject({
    bindings: z.array(
      z.looseObject({
        name: z.string(),
        class_name: z.string(),
        script_name: z.string().optional(),
      }),
    ),
  }),
  worker_loaders: z.array(z.looseObject({ binding: z.string() })),
  assets: z
    .looseObject({
      directory: z.string().optional(),
      binding: z.string().optional(),
      run_worker_first: z.union([z.boolean(), z.array(z.string())]).optional(),
    })
    .optional(),
});

export type WranglerConfig = z.infer<typeof configSchema>;

/** The modules of the wrangler of a project. */
export interface ProjectWrangler {
  /** The file of its program. */
  program: string;
  readConfig: (file: { config?: string; env?: string }) => unknown;
  /** The configuration as its file has it. */
  readFile: (config: string) => unknown;
}

/** @throws CliError when the project has no wrangler */
export function projectWrangler(root: string): ProjectWrangler {
  const require = createRequire(join(root, "package.json"));
  try {
    const manifest = require.resolve("wrangler/package.json");
    const { experimental_readRawConfig, unstable_readConfig } = require("wrangler") as {
      experimental_readRawConfig: (file: object) => { rawConfig: unknown };
      unstable_readConfig: (file: object, options: object) => unknown;
    };
    return {
      program: join(dirname(manifest), "bin/wrangler.js"),
      readConfig: (file) => unstable_readConfig(file, { hideWarnings: true }),
      readFile: (config) => experimental_readRawConfig({ config }).rawConfig,
    };
  } catch {
    throw new CliError(
      `Wrangler is not installed in ${root}. Install it: npm install --save-dev wrangler`,
      { code: "no_wrangler" },
    );
  }
}

/** @throws CliError naming the invalid field */
export function readWranglerConfig(
  { readConfig }: ProjectWrangler,
  config: string,
  env: string | undefined,
): WranglerConfig {
  const read = configSchema.safeParse(readConfig({ config, ...(env !== undefined && { env }) }));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new CliError(`${config} cannot be built: ${issue?.path.join(".")}: ${issue?.message}`);
}

/** Bindings of the configuration that `troupe serve` does not have, with their kinds. */
export function bindingsElsewhere(config: WranglerConfig): { binding: string; kind: string }[] {
  const found = config.durable_objects.bindings
    .filter(({ script_name }) => script_name !== undefined && script_name !== config.name)
    .map(({ name }) => ({ binding: name, kind: "durable_objects with script_name" }));
  for (const kind of SINGLE) {
    const one = z.looseObject({ binding: z.string() }).safeParse(config[kind]);
    if (one.success) found.push({ binding: one.data.binding, kind });
  }
  for (const kind of LISTS) {
    const list = bindings.safeParse(config[kind]);
    for (const { binding, name } of list.success ? list.data : [])
      found.push({ binding: binding ?? name ?? "", kind });
  }
  const queues = z.looseObject({ producers: bindings }).safeParse(config["queues"]);
  for (const { binding } of queues.success ? queues.data.producers : [])
    found.push({ binding: binding ?? "", kind: "queues" });
  return found;
}

const SINGLE = ["ai", "browser", "images", "media", "version_metadata"];

const LISTS = [
  "analytics_engine_datasets",
  "containers",
  "d1_databases",
  "dispatch_namespaces",
  "hyperdrive",
  "kv_namespaces",
  "mtls_certificates",
  "pipelines",
  "r2_buckets",
  "ratelimits",
  "secrets_store_secrets",
  "send_email",
  "services",
  "vectorize",
  "vpc_services",
  "workflows",
];

/**
 * The assets of a Worker; null without them.
 *
 * @throws CliError when the Worker does not decide which of them are served
 */
export function assetsOf({
  assets,
  configPath,
}: WranglerConfig): { binding: string; directory: string } | null {
  const { directory, binding, run_worker_first } = assets ?? {};
  if (directory === undefined) return null;
  if (binding === undefined || run_worker_first !== true) {
    throw new CliError(
      `The assets in ${configPath} need "binding" and "run_worker_first = true": troupe serve sends every request to the Worker.`,
    );
  }
  return { binding, directory: resolve(dirname(configPath), directory) };
}
