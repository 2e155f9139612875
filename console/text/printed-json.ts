/** The longest line with a list or an object on it. */
const LONGEST_LINE = 80;

/** JSON with two spaces of indentation, in which short lists of texts and numbers are not broken into lines. */
export function printedJson(value: unknown): string {
  return printed(JSON.parse(JSON.stringify(value) ?? "null"), "");
}

function printed(value: unknown, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    const isFlat = value.every((item) => typeof item !== "object" || item === null);
    if (isFlat && indent.length + line.length <= LONGEST_LINE) return line;
    return `[\n${value.map((item) => inner + printed(item, inner)).join(",\n")}\n${indent}]`;
  }
  const fields = Object.entries(value);
  if (fields.length === 0) return "{}";
  const lines = fields.map(([name, item]) => {
    return `${inner}${JSON.stringify(name)}: ${printed(item, inner)}`;
  });
  return `{\n${lines.join(",\n")}\n${indent}}`;
}
