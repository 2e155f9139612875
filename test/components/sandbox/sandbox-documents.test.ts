import { afterAll, beforeAll, expect } from "vitest";
import { SandboxDocuments } from "#components/sandbox/sandbox-documents.ts";
import { pdfOf } from "../../support/pdf.ts";
import { testWith } from "../../support/programs.ts";
import { Sandbox } from "../../support/sandbox.ts";

const test = testWith("python3", "pdftotext");
const PDF = "application/pdf";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

test("a sandbox with real processes reads the pages of a PDF, empty ones too", async () => {
  const documents = new SandboxDocuments({ url: sandbox.url, apiKey: sandbox.key });
  const pages = await documents.pages(
    pdfOf("The rent is 900 euros.", "", "Signed in Berlin."),
    PDF,
  );
  expect(pages.map((page) => page.trim())).toEqual([
    "The rent is 900 euros.",
    "",
    "Signed in Berlin.",
  ]);
});

test("a broken PDF is reported as unreadable", async () => {
  const documents = new SandboxDocuments({ url: sandbox.url, apiKey: sandbox.key });
  await expect(documents.pages(Buffer.from("%PDF-1.7 and no more"), PDF)).rejects.toMatchObject({
    message: "is a PDF that cannot be read",
  });
});
