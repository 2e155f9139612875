import { expect, test } from "vitest";
import { DocumentError, documents } from "troupe/documents";
import { pdfOf } from "../support/pdf.ts";

const PDF = "application/pdf";

test("a long PDF has all of its pages, in their order", async () => {
  const lines = Array.from({ length: 250 }, (_, n) => `Page number ${n + 1}.`);
  const pages = await documents.pages(new Uint8Array(pdfOf(...lines)), PDF);
  expect(pages.map((page) => page.trim())).toEqual(lines);
});

test("a document can be read again: the library takes a copy of its bytes", async () => {
  const bytes = new Uint8Array(pdfOf("Text."));
  const before = bytes.slice();
  await documents.pages(bytes, PDF);
  expect(bytes).toEqual(before);
});

test("only PDF is read, and bytes that the library cannot read are refused with its error as the cause", async () => {
  const bytes = new TextEncoder().encode("Hello.");
  await expect(documents.pages(bytes, "text/plain")).rejects.toThrow("nothing reads text/plain");
  const refused = documents.pages(bytes, PDF);
  await expect(refused).rejects.toBeInstanceOf(DocumentError);
  await expect(refused).rejects.toMatchObject({ cause: expect.any(Error) });
});
