// The tokenizer's tables as data modules: 3.4 MB that the runtime neither compiles nor reads before tokens are counted.

import { pathToFileURL } from "node:url";

/**
 * A table of js-tiktoken as JSON, and a module with the same export as its own that parses it.
 *
 * @param {string} name the encoding, for example `o200k_base`
 * @param {string} path the table's module
 * @returns {Promise<{ file: string, data: string, module: string }>}
 */
export async function tokenTable(name, path) {
  const { default: table } = await import(pathToFileURL(path).href);
  const file = `${name}.bin`;
  // A static import would be read at the start of each isolate, where bundlers put all modules into one file.
  const module = `const { default: bytes } = await import("./${file}");\nexport default JSON.parse(new TextDecoder().decode(bytes));\n`;
  return { file, data: JSON.stringify(table), module };
}
