import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ $ref?: string, type?: string | string[], enum?: unknown[], const?: unknown, items?: Schema, anyOf?: Schema[], oneOf?: Schema[], description?: string, properties?: Record<string, Schema>, required?: string[], default?: unknown, minimum?: number, maximum?: number }} Schema */

/**
 * Writes a page for each tag of an OpenAPI document, and one that lists them.
 *
 * @param {any} document
 * @param {string} directory
 */
export function writeOperations(document, directory) {
  /** @type {Map<string, string[]>} */
  const tags = new Map();
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item)) {
      const [tag = "Other"] = operation.tags ?? [];
      tags.set(tag, [...(tags.get(tag) ?? []), operationText(document, method, path, operation)]);
    }
  mkdirSync(directory, { recursive: true });
  const list = ["# HTTP operations\n"];
  for (const [tag, operations] of tags) {
    const file = `${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.md`;
    list.push(`- [${tag}](${file}): ${operations.length} operations`);
    writeFileSync(join(directory, file), `# ${tag}\n\n${operations.join("\n\n")}\n`);
  }
  writeFileSync(join(directory, "README.md"), `${list.join("\n")}\n`);
}

/** @param {any} document @param {string} method @param {string} path @param {any} operation */
function operationText(document, method, path, operation) {
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  return [
    `## ${operation.summary}`,
    `\`${method.toUpperCase()} ${path}\``,
    operation.description,
    table(
      "Parameters",
      (operation.parameters ?? [])
        .map((/** @type {any} */ given) => resolved(document, given))
        .map((/** @type {any} */ { name, required, schema, description }) => [
          name,
          schema,
          required,
          description ?? schema?.description,
        ]),
    ),
    table("Body", fieldsOf(document, body)),
    table(
      "Answers",
      Object.entries(operation.responses).map(([status, answer]) => {
        const { description, content } = resolved(document, answer);
        const [media] = Object.values(content ?? {});
        return [status, media?.schema ?? {}, false, description];
      }),
    ),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/**
 * @param {string} title
 * @param {[string, Schema, boolean, string | undefined][]} rows
 */
function table(title, rows) {
  if (rows.length === 0) return "";
  const lines = rows.map(
    ([name, schema, required, text]) =>
      `| \`${name}\`${required ? " (required)" : ""} | ${typeOf(schema)} | ${(text ?? "").replaceAll("|", String.raw`\|`).replaceAll("\n", " ")} |`,
  );
  return [`| ${title} | type | |`, "|---|---|---|", ...lines].join("\n");
}

/** @param {any} document @param {Schema | undefined} given @returns {[string, Schema, boolean, string | undefined][]} */
function fieldsOf(document, given) {
  const { properties = {}, required = [] } = resolved(document, given ?? {});
  return Object.entries(properties).map(([name, schema]) => [
    name,
    schema,
    required.includes(name),
    schema.description,
  ]);
}

/** @param {any} document @param {any} given */
function resolved(document, given) {
  const path = given.$ref?.slice("#/".length).split("/") ?? [];
  return given.$ref === undefined
    ? given
    : path.reduce((/** @type {any} */ at, /** @type {string} */ key) => at[key], document);
}

/** @param {Schema | undefined} schema @returns {string} */
function typeOf(schema) {
  if (schema === undefined) return "";
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "";
  if (schema.enum) return schema.enum.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(" or ");
  if (schema.type === "array") return `array of ${typeOf(schema.items) || "any"}`;
  return [schema.type ?? ""].flat().join(" or ");
}
