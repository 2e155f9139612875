import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { projectWrangler } from "../build/wrangler-config.ts";

const partSchema = z.looseObject({
  vars: z.looseObject({ CODE: z.unknown() }).optional(),
  worker_loaders: z.array(z.unknown()).optional(),
});

const fileSchema = partSchema.extend({ env: z.record(z.string(), partSchema).optional() });

/**
 * The binding `LOADER` for dynamic Workers in what is to be deployed: the configuration names it, this command adds it, or it is
 * not added, because `CODE` names another place or another program writes the configuration that is deployed.
 */
export type LoaderPlan = "configured" | "add" | "unused";

/** Cloudflare's code for a binding that the plan lacks, and the one for any invalid binding, which it was before April 2026. */
const REFUSALS: ReadonlySet<number> = new Set([10195, 10021]);

const failureSchema = z.object({ type: z.literal("command-failed"), code: z.number() });

interface Project {
  /** The folder of the project. */
  root: string;
  /** The file of its configuration. */
  config: string;
  /** The environment of the configuration. */
  env: string | undefined;
}

/** @throws CliError when the project has no wrangler */
export function loaderPlan(project: Project): LoaderPlan {
  const part = partOf(readProject(project), project);
  if (part?.worker_loaders !== undefined) return "configured";
  // The configuration that is deployed is another one, which a build of the project wrote.
  const isRedirected = existsSync(join(project.root, ".wrangler", "deploy", "config.json"));
  if (part === undefined || isRedirected) return "unused";
  const { CODE = "" } = part.vars ?? {};
  return ["", "auto", "loader"].includes(String(CODE)) ? "add" : "unused";
}

/** Calls a function with the file of a configuration that has the binding, too. It is beside the project's, whose paths are relative. */
export async function withLoader<T>(
  project: Project,
  use: (config: string) => Promise<T>,
): Promise<T> {
  const file = readProject(project);
  Object.assign(partOf(file, project) ?? {}, { worker_loaders: [{ binding: "LOADER" }] });
  const config = join(project.root, ".wrangler-with-loader.json");
  try {
    await writeFile(config, JSON.stringify(file));
    return await use(config);
  } finally {
    await rm(config, { force: true });
  }
}

/** True if a deployment may have failed because of the binding. @param output the lines that wrangler wrote for programs */
export function mayRefuseLoader(output: readonly unknown[]): boolean {
  return output.some((line) => {
    const { data } = failureSchema.safeParse(line);
    return data !== undefined && REFUSALS.has(data.code);
  });
}

type ConfigurationFile = z.output<typeof fileSchema>;

function readProject({ root, config }: Project): ConfigurationFile {
  return fileSchema.parse(projectWrangler(root).readFile(config));
}

/** The part that is deployed; undefined for an environment that the configuration does not have. */
function partOf(
  file: ConfigurationFile,
  { env }: Project,
): z.output<typeof partSchema> | undefined {
  // wrangler takes this variable, too.
  const name = env ?? process.env["CLOUDFLARE_ENV"];
  return name ? file.env?.[name] : file;
}
