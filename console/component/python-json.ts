const CONSTANTS: Readonly<Record<string, string>> = { None: "null", True: "true", False: "false" };

/** A text of Python that can be read as JSON. */
export interface PythonText {
  json: string;
  /** The words and signs of Python in it. */
  found: readonly string[];
}

/** The JSON that a printed value of Python stands for; undefined if it is something else. */
export function fromPython(text: string): PythonText | undefined {
  const found = new Set<string>();
  // Texts in either quotes, constants, comments, and commas before an end.
  const pattern =
    /"(?:[^"\\]|\\.)*"|'((?:[^'\\]|\\.)*)'|\b(None|True|False)\b|#[^\n]*|,(?=\s*[}\]])/g;
  const json = text.replaceAll(pattern, (part: string, single?: string, constant?: string) => {
    if (single !== undefined) {
      found.add("'single quotes'");
      return quoted(single);
    }
    if (constant !== undefined) {
      found.add(constant);
      return CONSTANTS[constant] ?? part;
    }
    if (part === ",") {
      found.add("a comma at the end of a list");
      return "";
    }
    if (part.startsWith("#")) {
      found.add("# comments");
      return "";
    }
    return part;
  });
  if (found.size === 0) return undefined;
  try {
    return { json: JSON.stringify(JSON.parse(json), null, 2), found: [...found] };
  } catch {
    return undefined;
  }
}

function quoted(single: string): string {
  const plain = single.replaceAll("\\'", "'").replaceAll(/(^|[^\\])((?:\\\\)*)"/g, '$1$2\\"');
  return `"${plain}"`;
}

/** `None, True and 'single quotes'`. */
export function namesOf(found: readonly string[]): string {
  const last = found.at(-1) ?? "";
  return found.length < 2 ? last : `${found.slice(0, -1).join(", ")} and ${last}`;
}
