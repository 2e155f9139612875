import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { docsPage, PUBLIC_NAMES, PUBLISHED } from "#contract/public-names.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const manifest = (folder: string): Record<string, unknown> =>
  JSON.parse(read(join(folder, "package.json"))) as Record<string, unknown>;

const PAGES = globSync(["*.md", "{docs,bench,console,create-troupe,examples,template}/**/*.md"], {
  cwd: root,
  exclude: ["docs/api/**", "docs/reference/**", "**/node_modules/**", "CHANGELOG.md"],
});

/** Commands that download something by a name of ours. */
const { package: npm, creator, python, images } = PUBLIC_NAMES;
const DOWNLOADS = [
  {
    published: PUBLISHED.package,
    command: new RegExp(`npm (?:install|i|add) [^|\\n\`]*(?<=\\s)${npm}(?=[\\s\`@]|$)`),
  },
  { published: PUBLISHED.command, command: new RegExp(`npx (?:--yes )?${npm} init\\b`) },
  {
    published: PUBLISHED.creator,
    command: new RegExp(`npm (?:create|init) ${creator.replace("create-", "")}\\b`),
  },
  {
    published: PUBLISHED.python,
    command: new RegExp(`pip install [^\\n\`]*\\b(?:${python}|troupe)\\b`),
  },
  {
    published: PUBLISHED.images,
    command: new RegExp(
      `docker (?:pull|run [^\\n]*) [\\w./-]+/(?:${images.service}|${images.sandbox})\\b`,
    ),
  },
];

const SAYS_WHEN = /\b(?:once|until)\b[^.]*\sis\s(?:on\snpm|published)\b/i;

/** The commands of a page that download what cannot be downloaded, unless the page says when that will be. */
function promises(text: string): string[] {
  if (SAYS_WHEN.test(text)) return [];
  return DOWNLOADS.flatMap(({ published, command }) =>
    published ? [] : (command.exec(text)?.slice(0, 1) ?? []),
  );
}

test("packages, their commands and what depends on them have the public names", () => {
  const own = manifest(".");
  expect(own["name"]).toBe(PUBLIC_NAMES.package);
  expect(Object.keys(own["bin"] as object)).toEqual([PUBLIC_NAMES.command]);
  const creatorManifest = manifest("create-troupe");
  expect(creatorManifest["name"]).toBe(PUBLIC_NAMES.creator);
  expect(creatorManifest["dependencies"]).toEqual({ [PUBLIC_NAMES.package]: own["version"] });
});

test("the README and the tutorial make a project by the same lines", () => {
  const tarball = `${npm}-${String(manifest(".")["version"])}.tgz`;
  const lines = PUBLISHED.command
    ? [`npx ${PUBLIC_NAMES.command} init my-team`]
    : [
        `npm pack && npx --yes ./${tarball} init ../my-team --no-install`,
        `cd ../my-team && npm install ../troupe/${tarball}`,
      ];
  for (const page of ["README.md", "docs/tutorial.md"])
    for (const line of lines) expect(read(page)).toContain(line);
});

test.each(["npm install troupe react", "npx troupe init my-team", "npm create troupe my-team"])(
  "a page that says %j is found, unless it says until when the name is not published",
  (command) => {
    expect(promises(`Start:\n\n    ${command}\n\nDone.`)).toHaveLength(1);
    expect(
      promises(`Once the package is on npm, run \`${command}\`; now, clone the repository.`),
    ).toEqual([]);
  },
);

test.each(PAGES)("%s promises no download that is not published", (page) => {
  expect(promises(read(page))).toEqual([]);
});

test.each([
  ["README.md", /docs\/[\w/.-]+\.md/g],
  ["src/api/auth/local.ts", /docsPage\("[\w.-]+"\)/g],
  ["src/cli/dev/greeting.ts", /pageForUser\("[\w.-]+"\)/g],
  ["src/cli/commands/dev.ts", /pageForUser\("[\w.-]+"\)/g],
])("%s names pages that the package contains", (file, link) => {
  const named = [...read(file).matchAll(link)].map(
    ([text]) => /[\w/.-]+\.md/.exec(text)?.[0] ?? "",
  );
  expect(named.length).toBeGreaterThan(0);
  for (const page of named)
    expect(read(page.startsWith("docs/") ? page : docsPage(page as "x.md"))).not.toBe("");
});
