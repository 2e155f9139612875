import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Names that are declared once, also among the declarations that a file keeps to itself. */
const DECLARED_ONCE = ["Admission", "Call", "Endpoint", "Place", "Refusal", "Rest", "RunStore"];

/** Types and classes that one file exports. Another file may declare the name for itself, or a function of that name. */
const EXPORTED_ONCE = [
  "AnswerForm",
  "Answers",
  "CodeBlock",
  "Conversation",
  "Entry",
  "Exchange",
  "Lists",
  "McpSession",
  "MemoryHost",
  "ObjectParts",
  "Part",
  "Progress",
  "Refused",
  "RunFacts",
  "RunStream",
  "Step",
  "Steps",
  "TeamComponent",
  "Tokenizer",
  "ToolResult",
  "Usage",
  "Verdict",
];

/** Public names of both `troupe` and `troupe/client`, for the same thing in memory and over HTTP. */
const DECLARED_BY_BOTH_PACKAGES = ["Answer", "Task"];

interface Declaration {
  name: string;
  /** A type or class that other files can import. */
  isExportedType: boolean;
}

/** The types, classes and functions that the text of a file declares at its outermost level. */
function declarationsIn(text: string): Declaration[] {
  const pattern =
    /^(export )?(?:default )?(?:abstract )?(?:async )?(class|interface|type|const|function\*?) (\w+)/gm;
  return Array.from(text.matchAll(pattern), ([, exported, kind = "", name = ""]) => ({
    name,
    isExportedType: exported !== undefined && ["class", "interface", "type"].includes(kind),
  }));
}

const declarations = globSync("{src,console}/**/*.{ts,tsx}", { cwd: root })
  .toSorted()
  .filter((file) => !file.startsWith("console/test/"))
  .flatMap((file) =>
    declarationsIn(readFileSync(join(root, file), "utf8")).map((declaration) => ({
      ...declaration,
      file,
    })),
  );

function filesThatDeclare(name: string, { onlyTypes }: { onlyTypes: boolean }): string[] {
  return declarations
    .filter((found) => found.name === name && (found.isExportedType || !onlyTypes))
    .map(({ file }) => file);
}

/** The names that more than one file declares, with these files. */
function repeated(
  names: readonly string[],
  options: { onlyTypes: boolean },
): Record<string, string[]> {
  return Object.fromEntries(
    names
      .map((name) => [name, filesThatDeclare(name, options)] as const)
      .filter(([, files]) => files.length > 1),
  );
}

test("declarations are found with and without export, whatever their kind", () => {
  const text = `
export interface Call<T> {}
type Place = string;
export abstract class Rest {}
export default async function Task() {}
  const Answer = 1;
`;
  expect(declarationsIn(text)).toEqual([
    { name: "Call", isExportedType: true },
    { name: "Place", isExportedType: false },
    { name: "Rest", isExportedType: true },
    { name: "Task", isExportedType: false },
  ]);
});

test("a name of the list is declared by one file", () => {
  expect(repeated(DECLARED_ONCE, { onlyTypes: false })).toEqual({});
});

test("a type of the list is exported by one file", () => {
  expect(repeated(EXPORTED_ONCE, { onlyTypes: true })).toEqual({});
});

test.each(DECLARED_BY_BOTH_PACKAGES)("%s is declared by the library and by the client", (name) => {
  const files = filesThatDeclare(name, { onlyTypes: false });
  expect(files).toEqual([
    expect.stringMatching(/^src\/client\//),
    expect.stringMatching(/^src\/core\//),
  ]);
});
