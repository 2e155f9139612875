// Bundles the page that hosts of MCP show with a run (docs/mcp.md) into one file, console/public/run-view.txt, whose script and
// styles are in it. The console does not serve it as a page.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { replaceFile } from "./replace-files.mjs";

const root = resolve(import.meta.dirname, "../..");
const source = join(root, "console/app");

export const RUN_VIEW = join(root, "console/public/run-view.txt");

/**
 * The modules that the console loads when it first needs them, and the page does without: the console's parts show code without
 * colours and formulas as they are written, and have arguments edited as JSON. Parts of documents are not opened there.
 */
const LEFT_OUT = /(?:\/highlight\.ts|^temml|\/schema-form\.tsx|\/cited-part\.tsx)$/;

export async function buildRunView() {
  const [script, styles, page] = await Promise.all([
    bundleScript(),
    bundleStyles(),
    readFile(join(source, "page.html"), "utf8"),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(styles)}'`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = page
    .replace(
      "<!-- policy -->",
      () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    )
    .replace("<!-- styles -->", () => `<style>${styles}</style>`)
    .replace("<!-- script -->", () => `<script type="module">${script}</script>`);
  await replaceFile(RUN_VIEW, Buffer.from(html));
}

/** @param {string} text */
function hashOf(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

async function bundleScript() {
  const bundle = await rolldown({
    input: join(source, "main.tsx"),
    cwd: root,
    platform: "browser",
    transform: {
      target: ["chrome120", "firefox121", "safari17"],
      jsx: { runtime: "automatic" },
      define: { "process.env.NODE_ENV": '"production"' },
    },
    plugins: [withoutLargeParts],
    onLog(level, log, handler) {
      // "use client" means something on servers only.
      if (log.code !== "MODULE_LEVEL_DIRECTIVE") handler(level, log);
    },
  });
  const { output } = await bundle.generate({ minify: true, codeSplitting: false });
  const [script, ...others] = output;
  if (others.length > 0) throw new Error("the page of a run must be one file");
  // The text of a script element must not end it. Strings and patterns may have any character by its number.
  return script.code.trim().replaceAll(/<(?=\/script|!--)/gi, "\\x3C");
}

/** @type {import("rolldown").Plugin} */
const withoutLargeParts = {
  name: "without-large-parts",
  resolveId(name, _importer, { kind }) {
    if (kind === "dynamic-import" && LEFT_OUT.test(name)) return "\0left-out";
    if (!name.endsWith("/forms/answer-fields.tsx")) return undefined;
    return join(source, "answer-fields.tsx");
  },
  load: (id) =>
    id === "\0left-out" ? 'throw new Error("The page has no such part.");' : undefined,
};

async function bundleStyles() {
  const { outputFiles } = await build({
    entryPoints: [join(source, "page.css")],
    bundle: true,
    target: ["chrome120", "firefox121", "safari17"],
    minify: true,
    logLevel: "warning",
    write: false,
  });
  return (outputFiles[0]?.text ?? "").trim();
}
