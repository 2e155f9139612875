import { describe, expect, test } from "vitest";
import { Skill, SkillError } from "#core/skills/skill.ts";
import { type Entry, zip } from "../../support/zip.ts";

const MAIN =
  "---\nname: refunds\ndescription: Decides about refunds.\n---\n# Refunds\n\nBe kind.\n";

/** The mistakes of a folder, one a line; empty for a valid one. */
function mistakes(files: Record<string, string | Uint8Array>): string {
  try {
    return new Skill({ files }).name === "" ? "no name" : "";
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return error.issues.map(({ path, message }) => `${path}: ${message}`).join("\n");
  }
}

const withFront = (front: string): Record<string, string> => ({
  "SKILL.md": `---\n${front}\n---\nText.\n`,
});

const NAMED = "name: refunds\ndescription: d";

describe("a folder", () => {
  test("is a skill if it has front matter and instructions", () => {
    const skill = new Skill({ files: { "SKILL.md": MAIN, "scripts/a.py": "print(1)" } });
    expect(skill).toMatchObject({
      name: "refunds",
      description: "Decides about refunds.",
      text: "# Refunds\n\nBe kind.",
      allowedTools: null,
    });
  });

  test("keeps keys that the format does not have", () => {
    const { frontMatter } = new Skill({
      files: withFront(
        `${NAMED}\nlicense: MIT\nmetadata: {version: 1.5}\nmodel: fast\nlist: [1, {a: b}]`,
      ),
    });
    expect(frontMatter).toMatchObject({
      license: "MIT",
      metadata: { version: 1.5 },
      model: "fast",
      list: [1, { a: "b" }],
    });
  });

  test("may be written on Windows, with a byte order mark, or in one folder more", () => {
    const windows = `\u{feff}${MAIN.replaceAll("\n", "\r\n")}`;
    expect(new Skill({ files: { "SKILL.md": windows } }).text).toBe("# Refunds\n\nBe kind.");
    const inner = new Skill({ files: { "refunds/SKILL.md": MAIN, "refunds/a/b.txt": "1" } });
    expect(inner.name).toBe("refunds");
  });

  test.each([
    ["Bash(git:*) Bash(jq:*) Read", ["Bash", "Read"]],
    ["search, pay", ["search", "pay"]],
    ["[search, 'pay (a b)']", ["search", "pay"]],
    ['""', []],
  ])("names the tools in %s", (allowed, names) => {
    const { allowedTools } = new Skill({ files: withFront(`${NAMED}\nallowed-tools: ${allowed}`) });
    expect(allowedTools).toEqual(names);
  });

  test.each([
    [
      "name: Refunds\ndescription: d",
      "line 2: name must have lower-case letters a to z, digits and hyphens only",
    ],
    ["name: re--funds\ndescription: d", "line 2: name must not have two hyphens in a row"],
    ["description: d\nname: -refunds", "line 3: name must not begin or end with a hyphen"],
    [`name: ${"a".repeat(65)}\ndescription: d`, "line 2: name has more than 64 characters"],
    ["name: 5\ndescription: d", "line 2: name must be a text"],
    ["description: d", "line 1: name is missing"],
    ["name: refunds", "line 1: description is missing"],
    ["name: refunds\n\ndescription: ''", "line 4: description is empty"],
    [
      `name: refunds\ndescription: ${"d".repeat(1025)}`,
      "line 3: description has more than 1024 characters",
    ],
    [
      `${NAMED}\ncompatibility: ${"d".repeat(501)}`,
      "line 4: compatibility has more than 500 characters",
    ],
    [`${NAMED}\nlicense: [MIT]`, "line 4: license must be a text"],
    [
      `${NAMED}\nmetadata: {a: [1]}`,
      'line 4: metadata must have texts as values, which "a" has not',
    ],
    [
      `${NAMED}\nallowed-tools: {a: b}`,
      "line 4: allowed-tools must be a text with names of tools, separated by spaces",
    ],
    [`${NAMED}\nname: other`, "line 4: is not YAML: Map keys must be unique"],
    [
      "name: refunds\ndescription: Use it when: always",
      "line 3: is not YAML: Nested mappings are not allowed in compact mappings. A text with a colon and a space in it stands in quotation marks",
    ],
    ["- refunds", "line 2: the front matter must have keys with values, such as name: my-skill"],
    [
      `${NAMED}\na: ${"[".repeat(15_000)}`,
      "line 1: the front matter is nested too deeply, or repeats itself by aliases",
    ],
    [
      `${NAMED}\na: &a [1]\nb: &b [${"*a,".repeat(9)}*a]\nc: [${"*b,".repeat(9)}*b]`,
      "line 1: the front matter is nested too deeply, or repeats itself by aliases",
    ],
  ])("is refused for the front matter %#", (front, message) => {
    expect(mistakes(withFront(front))).toBe(`SKILL.md: ${message}`);
  });

  test.each([
    [
      "Text.",
      "line 1: must be ---: SKILL.md begins with front matter, which has name and description",
    ],
    [
      "---\nname: refunds\n",
      "line 1: the front matter has no end: a line with --- and nothing else",
    ],
    [new Uint8Array([0x2d, 0xff]), "is not text in UTF-8"],
    [new Uint8Array([0xff, 0xfe, 0x2d, 0]), "is not text in UTF-8"],
    [`${MAIN}\0`, "has a NUL, so it is not text in UTF-8"],
    [
      "a".repeat(1_000_001),
      "has 1000001 bytes, and may have 1000000: move parts of it to files in references/",
    ],
  ])("is refused for the SKILL.md %#", (text, message) => {
    expect(mistakes({ "SKILL.md": text })).toBe(`SKILL.md: ${message}`);
  });

  test.each([
    ["../up.txt", "../up.txt: has .., which leads out of the folder of the skill"],
    ["a/../../up.txt", "a/../../up.txt: has .., which leads out of the folder of the skill"],
    ["/etc/passwd", "/etc/passwd: is absolute: paths are relative to the folder of the skill"],
    ["C:/a.txt", "C:/a.txt: is absolute: paths are relative to the folder of the skill"],
    ["a\\b.txt", "a\\\\b.txt: has a backslash: names of folders and files are separated by /"],
    ["a//b", "a//b: has an empty name or ."],
    ["./a", "./a: has an empty name or ."],
    ["a\nb", "a\\nb: has control characters"],
    ["\u{d800}", "\\ud800: has broken Unicode"],
    ["", "files: is empty"],
    [`${"a/".repeat(33)}b`, `${"a/".repeat(33)}b: is deeper than 32 folders`],
    ["skill.md", "skill.md: cannot stand beside SKILL.md: on some systems both are the same"],
    ["SKILL.md/a", "SKILL.md: cannot stand beside SKILL.md/a: on some systems both are the same"],
  ])("is refused for the path %#", (path, message) => {
    expect(mistakes({ "SKILL.md": MAIN, [path]: "1" })).toBe(message);
  });

  test("is refused without SKILL.md", () => {
    expect(mistakes({ "README.md": MAIN })).toMatch(/^SKILL\.md: is missing: a skill is a folder/);
    expect(mistakes({ "Skill.md": MAIN })).toBe(
      "SKILL.md: is missing: Skill.md must be named SKILL.md",
    );
  });

  test("is refused with more than 200 files, or 10 MB", () => {
    const many = Array.from({ length: 200 }, (_, index) => [`f${index}`, "1"]);
    expect(mistakes({ "SKILL.md": MAIN, ...Object.fromEntries(many) })).toBe(
      "files: has 201 files; a skill has 200 at most",
    );
    expect(mistakes({ "SKILL.md": MAIN, ...Object.fromEntries(many.slice(1)) })).toBe("");
    expect(mistakes({ "SKILL.md": MAIN, big: new Uint8Array(10_000_000) })).toMatch(
      /10000000 bytes/,
    );
  });
});

const main: Entry = { path: "refunds/SKILL.md", content: MAIN };

describe("an archive", () => {
  test("is the same skill as its folder", async () => {
    const skill = await Skill.fromZip(
      zip([
        { path: "refunds/", content: "", mode: 0o040755, stored: true },
        main,
        { path: "refunds/scripts/é.py", content: "print(1)", stored: true },
        { path: "__MACOSX/refunds/._SKILL.md", content: "x" },
        { path: "refunds/.DS_Store", content: "x" },
      ]),
    );
    const folder = new Skill({ files: { "SKILL.md": MAIN, "scripts/é.py": "print(1)" } });
    expect(skill.pin).toBe(folder.pin);
  });

  test.each<[string, Entry, string]>([
    [
      "a link",
      { path: "refunds/link", content: "/etc/passwd", mode: 0o120777 },
      "refunds/link: is a link, which a skill cannot have",
    ],
    [
      "a device",
      { path: "refunds/dev", content: "", mode: 0o020666 },
      "refunds/dev: is neither a file nor a folder",
    ],
    [
      "a path with ..",
      { path: "../evil", content: "x" },
      "../evil: has .., which leads out of the folder of the skill",
    ],
    [
      "an absolute path",
      { path: "/evil", content: "x" },
      "/evil: is absolute: paths are relative to the folder of the skill",
    ],
    [
      "a backslash",
      { path: "refunds\\evil", content: "x" },
      "refunds\\\\evil: has a backslash: names of folders and files are separated by /",
    ],
    [
      "more bytes than it states",
      { path: "refunds/bomb", content: "0".repeat(5_000_000), size: 10 },
      "refunds/bomb: has more bytes than the archive states",
    ],
    [
      "fewer bytes than it states",
      { path: "refunds/less", content: "0", size: 10 },
      "refunds/less: has fewer bytes than the archive states",
    ],
    [
      "a bomb",
      { path: "refunds/bomb", content: "0".repeat(11_000_000) },
      "archive: the files have more than 10000000 bytes together, which is the most for a skill",
    ],
    [
      "a wrong checksum",
      { path: "refunds/a", content: "x", crc: 1 },
      "refunds/a: is damaged: its checksum differs",
    ],
    ["an encrypted file", { path: "refunds/a", content: "x", flags: 1 }, "refunds/a: is encrypted"],
    [
      "another method",
      { path: "refunds/a", content: "x", method: 12 },
      "refunds/a: is packed by another method than deflate",
    ],
  ])("is refused with %s", async (_, entry, message) => {
    await expect(Skill.fromZip(zip([main, entry]))).rejects.toThrow(message);
  });

  test("that is none, or was cut off, is refused", async () => {
    const whole = zip([main]);
    for (const bytes of [
      new Uint8Array(),
      new Uint8Array(100),
      whole.slice(0, -1),
      whole.slice(20),
    ]) {
      await expect(Skill.fromZip(bytes)).rejects.toThrow(
        /is not a zip archive, or is damaged|is damaged/,
      );
    }
  });
});

describe("a skill in code", () => {
  test("may be given without its SKILL.md", () => {
    const skill = new Skill({
      name: "refunds",
      description: 'Decides: "yes" or no.',
      text: "Be kind.",
      allowedTools: ["pay"],
      files: { "a.txt": "1" },
    });
    expect(skill).toMatchObject({
      name: "refunds",
      description: 'Decides: "yes" or no.',
      text: "Be kind.",
      allowedTools: ["pay"],
    });
  });

  test("has the rules of a folder", () => {
    const options = { name: "Refunds", description: "d", text: "t" };
    expect(() => new Skill(options)).toThrow("line 2: name must have lower-case letters");
  });
});
