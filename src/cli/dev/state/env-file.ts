/**
 * Variables as the text of an env file. wrangler expands `$NAME` in values after it has taken the quotes off, so every
 * dollar sign is escaped.
 */
export function toEnvFile(vars: Readonly<Record<string, string>>): string {
  return Object.entries(vars)
    .map(([name, value]) => `${name}=${quote(value.replaceAll("$", String.raw`\$`))}\n`)
    .join("");
}

function quote(value: string): string {
  const mark = ["'", "`", '"'].find((one) => !value.includes(one));
  if (mark === undefined) throw new Error("a value may not contain all three kinds of quotes");
  return `${mark}${value}${mark}`;
}
