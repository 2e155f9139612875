import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";
import { createElement, type ReactNode } from "react";

/** Each language is loaded with the first code in it. */
const LANGUAGES = new Map<string, () => Promise<{ default: LanguageFn }>>(
  Object.entries({
    bash: () => import("highlight.js/lib/languages/bash"),
    css: () => import("highlight.js/lib/languages/css"),
    diff: () => import("highlight.js/lib/languages/diff"),
    go: () => import("highlight.js/lib/languages/go"),
    java: () => import("highlight.js/lib/languages/java"),
    javascript: () => import("highlight.js/lib/languages/javascript"),
    json: () => import("highlight.js/lib/languages/json"),
    python: () => import("highlight.js/lib/languages/python"),
    rust: () => import("highlight.js/lib/languages/rust"),
    sql: () => import("highlight.js/lib/languages/sql"),
    typescript: () => import("highlight.js/lib/languages/typescript"),
    xml: () => import("highlight.js/lib/languages/xml"),
    yaml: () => import("highlight.js/lib/languages/yaml"),
  }),
);

/** Other names of languages after a fence. */
const ALIASES = new Map(
  Object.entries({
    cjs: "javascript",
    cts: "typescript",
    golang: "go",
    html: "xml",
    js: "javascript",
    jsonc: "json",
    jsx: "javascript",
    mjs: "javascript",
    mts: "typescript",
    patch: "diff",
    py: "python",
    rs: "rust",
    sh: "bash",
    shell: "bash",
    svg: "xml",
    ts: "typescript",
    tsx: "typescript",
    yml: "yaml",
    zsh: "bash",
  }),
);

const lowlight = createLowlight();

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

/** Code in colours. */
export type Highlight = (code: string) => ReactNode;

/** Loads the grammar of a language; undefined for an unknown one. */
export async function loadHighlight(language: string): Promise<Highlight | undefined> {
  const name = ALIASES.get(language) ?? language;
  const load = LANGUAGES.get(name);
  if (load === undefined) return undefined;
  lowlight.register(name, (await load()).default);
  return (code) => lowlight.highlight(name, code).children.map(rendered);
}

function rendered(node: Node, index: number): ReactNode {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const { className: names } = node.properties;
  const className = Array.isArray(names) ? names.join(" ") : undefined;
  return createElement("span", { key: index, className }, node.children.map(rendered));
}
