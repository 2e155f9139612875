import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { TestWorker } from "../../support/worker.ts";
import { jsonLines, troupe } from "../support/command.ts";

let worker: TestWorker;
let url: string;
let folder: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  url = await worker.origin;
  folder = mkdtempSync(join(tmpdir(), "troupe-docs-"));
  mkdirSync(join(folder, "guides"));
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, "guides", "coffee.md"), "# Coffee\n\nThe machine is on floor 3.");
  writeFileSync(join(folder, "tea.html"), "<h1>Tea</h1><p>Tea is on floor 4.");
  writeFileSync(join(folder, ".git", "note.md"), "hidden");
  writeFileSync(join(folder, "picture.png"), "no document");
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("troupe docs puts a folder into a collection, finds, lists and removes", async () => {
  const of = ["--collection", "house"];
  expect(await troupe(["docs", "add", folder, ...of], { url })).toMatchObject({
    code: 0,
    stdout: "guides~coffee.md  ready 1 parts\ntea.html  ready 1 parts\n",
  });
  const found = await troupe(["docs", "search", "Where is the machine?", ...of], { url });
  expect(found.stdout).toMatch(/^guides~coffee.md, Coffee\n  The machine is on floor 3.\n/);
  expect(found.stderr).toContain("Words only");
  expect(await troupe(["docs", "rm", "tea.html", ...of], { url })).toMatchObject({ code: 0 });
  const listed = await troupe(["docs", "list", "--json", ...of], { url });
  expect(jsonLines(listed.stdout)).toMatchObject([{ id: "guides~coffee.md", status: "ready" }]);
  await troupe(["docs", "rm", ...of], { url });
  expect(await troupe(["docs", "list", ...of], { url })).toMatchObject({ code: 1 });
  const none = await troupe(["docs", "add", join(folder, "picture.png")], { url });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining(".md") });
});

test("troupe docs names the documents that are refused, and puts the others", async () => {
  const mixed = mkdtempSync(join(tmpdir(), "troupe-docs-mixed-"));
  const names = ["a.pdf", "手册.md", "指南.md", `${"long".repeat(50)}.md`];
  for (const name of names) writeFileSync(join(mixed, name), `About ${name}.`);
  const of = ["--collection", "mixed"];
  const added = await troupe(["docs", "add", mixed, ...of], { url });
  expect(added).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /a\.pdf: The document is not a PDF: it does not begin with %PDF-\.\nerror: 1 of 4 documents were refused/,
    ),
    stdout: expect.stringMatching(/ \(手册\.md\) {2}ready/),
  });
  const again = await troupe(["docs", "add", join(mixed, "手册.md"), ...of], { url });
  expect(again).toMatchObject({ code: 0 });
  const listed = await troupe(["docs", "list", "--json", ...of], { url });
  const ids = jsonLines(listed.stdout).map((document) => (document as { id: string }).id);
  expect(ids).toHaveLength(3);
  expect(ids).toEqual(
    expect.arrayContaining([
      again.stdout.split(" ", 1)[0],
      expect.stringMatching(/^-{3}[0-9a-f]{8}\.md$/),
      expect.stringMatching(/^[a-z]+-[0-9a-f]{8}\.md$/),
    ]),
  );
  rmSync(mixed, { recursive: true });
});

test("troupe docs reads another charset, and keeps the collection's language and description", async () => {
  const file = join(folder, "latin.txt");
  writeFileSync(file, Buffer.from("Die Straße ist gesperrt.", "latin1"));
  const of = ["--collection", "latin"];
  const client = new TroupeClient({ baseURL: url });
  await client.collections.put("latin", { description: "Old texts." });
  expect(await troupe(["docs", "add", file, ...of, "--language", "xx"], { url })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ar, da, de"),
  });
  expect(await troupe(["docs", "add", file, ...of], { url })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("charset"),
  });
  const options = ["--charset", "windows-1252", "--language", "de"];
  expect(await troupe(["docs", "add", file, ...of, ...options], { url })).toMatchObject({
    code: 0,
  });
  expect(await client.collections.get("latin")).toMatchObject({
    description: "Old texts.",
    language: "de",
    documents: 1,
  });
  const { results } = await client.collections.search("latin", { q: "Straßen" });
  expect(results).toMatchObject([{ document: "latin.txt", content: "Die Straße ist gesperrt." }]);
});

test("troupe memories adds, lists, searches and forgets", async () => {
  const of = ["--user", "ada"];
  const added = await troupe(["memories", "add", "Prefers tea.", ...of], { url });
  const id = added.stdout.trim();
  expect(await troupe(["memories", "list", ...of], { url })).toMatchObject({
    stdout: `${id}  Prefers tea.\n`,
  });
  const found = await troupe(["memories", "list", "--q", "tea", "--json", ...of], { url });
  expect(jsonLines(found.stdout)).toMatchObject([{ id, score: expect.any(Number) }]);
  expect(await troupe(["memories", "forget", id], { url })).toMatchObject({ code: 0 });
  await troupe(["memories", "add", "Sleeps late.", ...of], { url });
  const erased = await troupe(["memories", "forget", ...of], { url });
  expect(erased.stdout).toBe("1 forgotten\n");
  expect(await troupe(["memories", "forget"], { url })).toMatchObject({ code: 2 });
});

test("the client has memories and collections", async () => {
  const client = new TroupeClient({ baseURL: url });
  const [one] = await client.memories.add({ scope: "user", user: "bob", content: "Is tall." });
  const { id } = one ?? { id: "" };
  expect(await client.memories.change(id, { content: "Is small." })).toMatchObject({ id });
  const { memories } = await client.memories.list({ user: "bob", q: "small" });
  expect(memories).toMatchObject([{ id, content: "Is small.", scope: "user" }]);
  expect(await client.memories.erase({ user: "bob" })).toEqual({ forgotten: 1 });
  await client.collections.put("kitchen", { description: "Food." });
  const document = { content: "Soup is hot.", type: "text/plain", title: "Soup" };
  expect(await client.collections.putDocument("kitchen", "soup", document)).toMatchObject({
    title: "Soup",
    status: "ready",
  });
  const { results } = await client.collections.search("kitchen", { q: "soup" });
  expect(results).toMatchObject([{ document: "soup", content: "Soup is hot." }]);
  await client.collections.delete("kitchen");
});
