// The layer rules of the architecture as an oxlint plugin. Each layer lists what it may import besides itself: other
// parts of src (a folder ends in "/") and packages. Type-only imports count: a type is knowledge too.

import { dirname, join, relative, resolve, sep } from "node:path";

import { plainComments } from "./plain-comments.mjs";
import { plainTexts } from "./plain-texts.mjs";
import { plainTitles } from "./plain-titles.mjs";
import { wholeCharacters } from "./whole-characters.mjs";

/** @typedef {{ src: string[], packages: string[] }} Allowed */

/** What is on the wire, for those that know the service only through it. */
const WIRE = [
  "contract/",
  "core/messages/",
  "core/models/",
  "core/component/",
  "core/json.ts",
  "core/errors.ts",
  "core/cut.ts",
  "core/text/trim-end.ts",
  "core/text/thinking-text.ts",
];

/** The rooms of a team's object, ground floor first: each may import those before it. */
const TEAM = [
  "storage/",
  "stream/",
  "engine/",
  "schedules/",
  "directory-link/",
  "fork/",
  "state-parts/",
  "object/",
];

/** The rooms of a tenant's object, ground floor first. */
const TENANT = [
  "usage/",
  "directory/",
  "limits/",
  "notify/",
  "webhooks/",
  "triggers/",
  "connections/",
  "skills/",
  "files/",
  "sockets/",
  "object/",
];

/** The rooms of an object of memories, ground floor first. */
const MEMORY = ["vectors/", "documents/", "entries/", "object/"];

/** What both kinds of objects stand on. */
const OBJECTS = {
  src: ["core/", "contract/", "secrets/", "telemetry/", "sqlite/", "notify/"],
  packages: ["zod", "croner", "cloudflare:workers", "standardwebhooks"],
};

/** @param {string} layer @param {string[]} rooms @param {string[]} more */
const floors = (layer, rooms, more = []) =>
  Object.fromEntries(
    rooms.map((room, n) => [
      layer + room,
      {
        ...OBJECTS,
        src: [...OBJECTS.src, ...more, ...rooms.slice(0, n).map((name) => layer + name)],
      },
    ]),
  );

/** @type {Record<string, Allowed | "anything">} */
export const LAYERS = {
  "core/": {
    src: [],
    packages: ["zod", "@cfworker/json-schema", "@orama/stemmers", "js-tiktoken", "#ranks", "yaml"],
  },
  // What crosses the wire.
  "contract/": { src: ["core/"], packages: ["zod"] },
  // Problems, event streams and OpenAPI documents, for the service and the sandbox: the sandbox's image has nothing else of src but `core/cut.ts`.
  "http/": { src: [], packages: ["zod"] },
  "secrets/": { src: ["core/"], packages: [] },
  // Messages to people outside: their receivers, their formats, and the links that answer.
  "notify/": { src: ["core/", "contract/", "secrets/"], packages: [] },
  // Traces, metrics and logs of runs.
  "telemetry/": { src: ["core/", "contract/"], packages: [] },
  // Reads documents in a Worker that imports `troupe/documents`.
  "documents/": { src: ["contract/"], packages: ["unpdf"] },
  // Everything that makes requests to other servers goes through here.
  "outgoing/": { src: ["core/", "secrets/"], packages: ["cloudflare:email"] },
  // What component JSON can name and a network answers.
  "components/models/": {
    src: ["core/", "outgoing/"],
    packages: ["zod", "openai", "eventsource-parser"],
  },
  "components/http-tool/": { src: ["core/", "outgoing/"], packages: ["zod"] },
  "components/embeddings/": {
    src: ["core/", "outgoing/", "components/models/"],
    packages: ["openai", "zod"],
  },
  "components/memories/": {
    src: ["core/", "outgoing/", "components/models/", "components/embeddings/"],
    packages: ["zod"],
  },
  "components/sandbox/": {
    src: ["core/", "contract/", "secrets/", "outgoing/"],
    packages: ["zod", "eventsource-parser"],
  },
  "components/worker-loader/": { src: ["core/"], packages: ["zod"] },
  "components/a2a/": { src: ["core/", "outgoing/"], packages: ["zod", "eventsource-parser"] },
  "components/mcp/": {
    src: ["core/", "outgoing/", "components/sandbox/"],
    packages: ["zod", "@modelcontextprotocol/client", "eventsource-parser"],
  },
  "components/provider-names.ts": { src: [], packages: [] },
  "components/component-groups.ts": { src: ["core/", "components/"], packages: [] },
  "components/network-components.ts": { src: ["core/", "outgoing/", "components/"], packages: [] },
  "sqlite/": { src: ["core/", "contract/"], packages: ["@noble/hashes"] },
  ...floors("team/", TEAM),
  ...floors("tenant/", TENANT, ["team/"]),
  ...floors("memory/", MEMORY),
  // Authentication of requests.
  "api/auth/": { src: ["core/", "contract/", "secrets/"], packages: ["zod", "jose"] },
  // The text of documents.
  "api/documents/": {
    src: ["contract/", "core/cut.ts", "core/wait.ts"],
    packages: ["htmlparser2", "markdown-it"],
  },
  "api/http/": {
    src: [
      "core/",
      "contract/",
      "http/",
      "secrets/",
      "notify/",
      "api/auth/",
      "api/documents/",
      "telemetry/",
    ],
    packages: ["zod", "hono", "eventsource-parser"],
  },
  // Events from outside: who sent them, which runs they start.
  "api/inbound/": {
    src: ["core/", "contract/", "api/auth/", "api/http/"],
    packages: ["standardwebhooks", "postal-mime"],
  },
  // Like routes: the credentials, limits and problems are the API's.
  "api/protocols/": {
    src: [
      ...WIRE,
      "http/",
      "core/base64.ts",
      "core/field-checks.ts",
      "core/issues.ts",
      "core/hash.ts",
      "core/wait.ts",
      "core/state/shared-state.ts",
      "core/json-schema/arrange.ts",
      "core/json-schema/fit.ts",
      "core/json-schema/json-schema.ts",
      "core/text/placeholders.ts",
      "api/auth/",
      "api/http/",
    ],
    // Only the types of openai.
    packages: [
      "zod",
      "hono",
      "eventsource-parser",
      "@modelcontextprotocol/server",
      "openai",
      "jose",
      "canonicalize",
    ],
  },
  "client/": { src: WIRE, packages: ["zod", "eventsource-parser"] },
  "schemas.ts": { src: ["core/", "contract/", "components/"], packages: [] },
  "react/": { src: ["client/"], packages: ["react"] },
  // Runs in Node, and knows the service through the client; `troupe dev` runs it and takes its settings.
  "cli/": {
    src: [
      ...WIRE,
      // The description of a built Worker is checked as settings are: without zod.
      "core/field-checks.ts",
      "client/",
      "api/auth/",
      "api/http/",
      "outgoing/",
      "secrets/",
      "service/settings.ts",
      "service/parse-settings.ts",
      "evals/",
    ],
    packages: [
      "commander",
      "diff",
      "@agentclientprotocol/sdk",
      "aws4fetch",
      "yaml",
      "zod",
      "node:",
    ],
  },
  // Datasets, scorers and experiments. They know no server.
  "evals/statistics/": { src: [], packages: [] },
  "evals/data/": { src: ["core/"], packages: ["zod"] },
  "evals/scorers/": { src: ["core/", "evals/data/"], packages: ["zod"] },
  "evals/experiment/": {
    src: [
      "core/",
      "contract/usage/",
      "outgoing/",
      "components/",
      "service/templates/",
      "evals/statistics/",
      "evals/data/",
      "evals/scorers/",
    ],
    packages: ["zod", "rfc6902"],
  },
  "testing/": { src: ["core/", "contract/usage/", "evals/"], packages: ["zod"] },
  // The library entry must load anywhere, so nothing that needs a Worker.
  "index.ts": {
    src: ["core/", "outgoing/", "components/", "client/", "testing/"],
    packages: [],
  },
  // What users would write: only with what the library entry gives them.
  "service/templates/": { src: ["core/", "components/models/"], packages: ["zod"] },
  "service/settings.ts": { src: ["contract/", "api/http/"], packages: [] },
  // Composes all of it.
  "service/": "anything",
};

/** Packages too big to load before they are needed. */
const LAZY = [
  "js-tiktoken",
  "#ranks",
  "jose",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "@agentclientprotocol/sdk",
  "openai/client",
];

/** @param {string} path @param {string} pattern */
const covers = (path, pattern) =>
  pattern.endsWith("/") ? path.startsWith(pattern) : path === pattern;

/** @param {string} specifier @param {string} name */
const isPackage = (specifier, name) =>
  specifier === name || specifier.startsWith(name.endsWith(":") ? name : `${name}/`);

/**
 * Why `file` may not import `specifier`, or undefined when it may.
 *
 * @param {string} src absolute path of the src folder
 * @param {string} file absolute path of the importing file
 * @param {string} specifier
 */
export function violation(src, file, specifier) {
  const from = relative(src, file).split(sep).join("/");
  if (from.startsWith("../")) return undefined;
  const layer = Object.keys(LAYERS).find((pattern) => covers(from, pattern));
  if (layer === undefined)
    return `src/${from} belongs to no layer: add it to scripts/lint/layers.mjs`;
  const allowed = LAYERS[layer];
  if (allowed === undefined || allowed === "anything") return undefined;
  if (specifier.startsWith(".")) {
    const target = relative(src, resolve(dirname(file), specifier))
      .split(sep)
      .join("/");
    if ([layer, ...allowed.src].some((pattern) => covers(target, pattern))) return undefined;
    return `src/${layer} may not import src/${target}: it may import ${list([layer, ...allowed.src])} of src`;
  }
  if (allowed.packages.some((name) => isPackage(specifier, name))) return undefined;
  return `src/${layer} may not import ${specifier}: the packages it may import are ${list(allowed.packages)}`;
}

/** What the console may import of Troupe. */
const CONSOLE_ENTRIES = ["troupe/client", "troupe/react", "troupe/schemas"];

/**
 * Why a file of the console may not import `specifier`, or undefined when it may.
 *
 * @param {string} directory absolute path of the console's folder
 * @param {string} file absolute path of the importing file
 * @param {unknown} specifier
 */
export function consoleViolation(directory, file, specifier) {
  if (typeof specifier !== "string") return undefined;
  const leaves =
    specifier.startsWith(".") &&
    relative(directory, resolve(dirname(file), specifier)).startsWith("..");
  const inside = specifier.startsWith("#") || /^troupe(\/|$)/.test(specifier);
  if (!leaves && (!inside || CONSOLE_ENTRIES.includes(specifier))) return undefined;
  return `the console may not import ${specifier}: of Troupe it may import ${list(CONSOLE_ENTRIES)}`;
}

/** @param {string[]} names */
const list = (names) => (names.length === 0 ? "none" : names.join(", "));

/**
 * Calls `check` for whatever a file imports.
 *
 * @param {(source: any) => void} check
 */
const imports = (check) => ({
  /** @param {any} node */
  ImportDeclaration: (node) => check(node.source),
  /** @param {any} node */
  ExportNamedDeclaration: (node) => check(node.source),
  /** @param {any} node */
  ExportAllDeclaration: (node) => check(node.source),
  /** @param {any} node */
  ImportExpression: (node) => check(node.source),
  /** @param {any} node */
  TSImportType: (node) => check(node.source),
});

const layers = {
  /** @param {any} context */
  create(context) {
    const src = resolve(context.cwd, "src");
    /** @param {any} source */
    const check = (source) => {
      if (typeof source?.value !== "string") return;
      const message = violation(src, context.filename, source.value);
      if (message !== undefined) context.report({ node: source, message });
    };
    return {
      ...imports(check),
      /** @param {any} node */
      ImportDeclaration(node) {
        check(node.source);
        const inSrc = !relative(src, context.filename).startsWith("..");
        if (
          inSrc &&
          node.importKind !== "type" &&
          LAZY.some((name) => isPackage(node.source.value, name))
        ) {
          context.report({
            node: node.source,
            message: `load ${node.source.value} lazily: await import(...)`,
          });
        }
      },
    };
  },
};

/** Outside of src, a relative path into it would break with each file that moves. */
const srcByName = {
  /** @param {any} context */
  create(context) {
    const src = resolve(context.cwd, "src");
    const isInside = (/** @type {string} */ path, folder = src) =>
      !relative(folder, path).startsWith("..");
    // A workspace has a package.json of its own, which cannot name the layers above it. The console has its own rule.
    const workspaces = ["bench", "console", "sandbox/test"];
    const isFree = ["src", ...workspaces].some((folder) =>
      isInside(context.filename, resolve(context.cwd, folder)),
    );
    if (isFree) return {};
    // The service is deployed without src, but for these files.
    const shared = isInside(context.filename, resolve(context.cwd, "sandbox"))
      ? [join(src, "http"), join(src, "core/cut.ts")]
      : [];
    return imports((source) => {
      const specifier = source?.value;
      if (typeof specifier !== "string" || !specifier.startsWith(".")) return;
      const target = resolve(dirname(context.filename), specifier);
      if (!isInside(target) || shared.some((part) => isInside(target, part))) return;
      const message =
        "import src by the package's entry (troupe, troupe/worker, troupe/testing) or by #layer/...";
      context.report({ node: source, message });
    });
  },
};

/** The console is built with what everybody has: the package's entries for browsers. */
const consoleByEntries = {
  /** @param {any} context */
  create(context) {
    const directory = resolve(context.cwd, "console");
    // Its tests start the Worker.
    if (/^(\.\.|test\b)/.test(relative(directory, context.filename))) return {};
    return imports((source) => {
      const message = consoleViolation(directory, context.filename, source?.value);
      if (message !== undefined) context.report({ node: source, message });
    });
  },
};

/** A named import pulls all of zod's locales and builders into the bundle: 102 KB gzip instead of 35 KB. */
const zodNamespace = {
  /** @param {any} context */
  create(context) {
    return {
      /** @param {any} node */
      ImportDeclaration(node) {
        if (!isPackage(node.source.value, "zod") || node.importKind === "type") return;
        const whole = node.specifiers.every(
          (/** @type {any} */ s) => s.type === "ImportNamespaceSpecifier",
        );
        if (!whole)
          context.report({
            node,
            message: 'write `import * as z from "zod"`: other forms triple the bundle',
          });
      },
    };
  },
};

export default {
  meta: { name: "troupe" },
  rules: {
    layers,
    "zod-namespace": zodNamespace,
    "src-by-name": srcByName,
    "console-by-entries": consoleByEntries,
    "plain-comments": plainComments,
    "plain-texts": plainTexts,
    "plain-titles": plainTitles,
    "whole-characters": wholeCharacters,
  },
};
