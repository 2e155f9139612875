// Checked without zod, which would take a third of the time and of the memory of a start.

import type { Issue } from "../../core/errors.ts";
import { type FieldRule, fieldIssues } from "../../core/field-checks.ts";
import { isJsonObject, type Json } from "../../core/json.ts";

/** The file beside the modules of a built Worker that says how to run it. */
export const MANIFEST = "troupe.json";

/** The kinds of modules, as workerd names them. */
const MODULE_TYPES = ["esModule", "data", "text", "wasm", "json"] as const;

export type ModuleType = (typeof MODULE_TYPES)[number];

export interface BuiltWorkerManifest {
  format: 1;
  name: string;
  /** The entry first. */
  modules: { name: string; type: ModuleType }[];
  compatibility_date: string;
  compatibility_flags: string[];
  /** Classes of Durable Objects by the name of their binding. */
  objects: Record<string, string>;
  /** Variables of the configuration. */
  vars: Record<string, Json>;
  assets: { binding: string; directory: string } | null;
  /** Bindings that load dynamic Workers. */
  loaders: string[];
  /** Bindings that only Cloudflare and wrangler have, with their kinds. */
  elsewhere: { binding: string; kind: string }[];
}

const text: FieldRule = { accepts: isText, message: "must be a text that is not empty" };
const texts: FieldRule = {
  accepts: (value) => Array.isArray(value) && value.every(isText),
  message: "must be a list of texts",
};
const below: FieldRule = { accepts: isBelow, message: "must be a path below this file" };

const FIELDS: { readonly [field in keyof BuiltWorkerManifest]: FieldRule } = {
  format: { accepts: (value) => value === 1, message: "must be 1" },
  name: text,
  modules: {
    accepts: (value) => Array.isArray(value) && value.length > 0,
    message: "must be a list with at least one module",
  },
  compatibility_date: text,
  compatibility_flags: texts,
  objects: {
    accepts: (value) => isJsonObject(value) && Object.values(value).every(isText),
    message: "must be an object of texts",
  },
  vars: { accepts: isJsonObject, message: "must be an object" },
  assets: {
    accepts: (value) => value === null || isJsonObject(value),
    message: "must be an object or null",
  },
  loaders: texts,
  elsewhere: { accepts: Array.isArray, message: "must be a list" },
};

const MODULE_FIELDS = {
  name: below,
  type: {
    accepts: (value) => MODULE_TYPES.some((type) => type === value),
    message: `must be one of ${MODULE_TYPES.join(", ")}`,
  },
} satisfies Record<string, FieldRule>;

/**
 * The mistakes in what a manifest's file contains.
 *
 * @param json what was parsed
 */
export function manifestIssues(json: unknown): Issue[] {
  const issues = fieldIssues(json, FIELDS, "");
  if (issues.length > 0 || !isJsonObject(json)) return issues;
  const { modules, assets, elsewhere } = json;
  return [
    ...itemIssues(modules, MODULE_FIELDS, "modules"),
    ...(assets === null ? [] : fieldIssues(assets, { binding: text, directory: text }, "assets")),
    ...itemIssues(elsewhere, { binding: text, kind: text }, "elsewhere"),
  ];
}

function itemIssues(
  items: unknown,
  rules: Readonly<Record<string, FieldRule>>,
  path: string,
): Issue[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item, index) => fieldIssues(item, rules, `${path}.${index}`));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isBelow(value: unknown): boolean {
  return isText(value) && !value.startsWith("/") && !value.split("/").includes("..");
}
