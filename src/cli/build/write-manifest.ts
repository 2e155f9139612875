import { readdirSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { type BuiltWorkerManifest, MANIFEST, type ModuleType } from "../serve/manifest.ts";
import { assetsOf, bindingsElsewhere, type WranglerConfig } from "./wrangler-config.ts";

/** The kinds of modules by the endings of their files; others are not modules. */
const TYPES: Readonly<Record<string, ModuleType>> = {
  js: "esModule",
  mjs: "esModule",
  bin: "data",
  txt: "text",
  html: "text",
  sql: "text",
  wasm: "wasm",
  json: "json",
};

/**
 * Writes what `troupe serve` has to know about a Worker beside its modules.
 *
 * @param entry the file of the Worker in `directory`
 * @param assets where the static assets are; those of the configuration by default
 */
export function writeManifest(
  directory: string,
  entry: string,
  config: WranglerConfig,
  assets: string | undefined = assetsOf(config)?.directory,
): void {
  const own = assetsOf(config);
  const manifest: BuiltWorkerManifest = {
    format: 1,
    name: config.name,
    modules: modulesIn(directory, entry),
    compatibility_date: config.compatibility_date,
    compatibility_flags: config.compatibility_flags,
    objects: Object.fromEntries(
      config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name]),
    ),
    vars: config.vars,
    assets:
      own === null || assets === undefined
        ? null
        : { binding: own.binding, directory: relative(directory, assets) },
    loaders: config.worker_loaders.map(({ binding }) => binding),
    elsewhere: bindingsElsewhere(config),
  };
  writeFileSync(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}

function modulesIn(directory: string, entry: string): BuiltWorkerManifest["modules"] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(directory, join(file.parentPath, file.name)).split(sep).join("/"))
    .filter((name) => name !== entry && name !== MANIFEST && !name.startsWith("assets/"))
    .toSorted();
  return [entry, ...names].flatMap((name) => {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    return type === undefined ? [] : [{ name, type }];
  });
}
