import { expect, test, describe } from "vitest";
import { splitDocument } from "#api/documents/split-document.ts";
import type { DocumentChunk } from "#contract/gateways/memory-gateway.ts";
import { DocumentError } from "#contract/files/documents.ts";
import { documents } from "troupe/documents";
import { pdfOf } from "../../support/pdf.ts";

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

async function split(
  mimeType: string,
  text: string | Uint8Array<ArrayBuffer>,
  charset?: string,
): Promise<{ title: string | null; chunks: DocumentChunk[] }> {
  const bytes = typeof text === "string" ? bytesOf(text) : text;
  const chunks: DocumentChunk[] = [];
  const document = { bytes, mimeType, charset };
  const title = await splitDocument(
    document,
    async () => documents,
    (one) => chunks.push(one),
  );
  return { title, chunks };
}

describe("Markdown", () => {
  test("has a chunk for each section, with the path of its headings", async () => {
    const text = `---
title: "Handbook"
---
Welcome.

# Time off
## Holidays
30 days a *year*.

- in summer
- in winter

| a | b |
|---|---|
| 1 | 2 |

## Sick \`leave\` of [staff](x)
Call us.

\`\`\`sh
# no heading
\`\`\`
Setext
======
Last.`;
    const { title, chunks } = await split("text/markdown", text);
    expect(title).toBe("Handbook");
    expect(chunks.map(({ heading }) => heading)).toEqual([
      null,
      "Time off > Holidays",
      "Time off > Sick leave of staff",
      "Setext",
    ]);
    expect(chunks[1]?.content).toBe(
      "30 days a *year*.\n\n- in summer\n- in winter\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    );
    expect(chunks[2]?.content).toContain("# no heading");
    expect(chunks.map(({ chunk }) => chunk)).toEqual([0, 1, 2, 3]);
  });

  test("is titled by its first heading, and HTML in it is text", async () => {
    const text = "# Guide\n\n<details><summary>More</summary>\nHidden <b>text</b>.\n</details>";
    const { title, chunks } = await split("text/markdown", text);
    expect(title).toBe("Guide");
    expect(chunks).toMatchObject([{ heading: "Guide", content: "More\n\nHidden text." }]);
  });
});

describe("HTML", () => {
  test("has sections by headings, and no scripts", async () => {
    const page = `<!doctype html><html><head><title>Caf&eacute;</title><style>p{}</style></head>
      <body><script>alert("no")</script><h1>Menu</h1><p>All <b>day</b>&nbsp;long.
      <h2>Drinks</h2><ul><li>Tea<li>Coffee</ul>
      <table><tr><th>Size<th>Price<tr><td>Small<td>2</table>
      <pre>a
  b</pre></body></html>`;
    const { title, chunks } = await split("text/html", page);
    expect(title).toBe("Café");
    expect(chunks).toMatchObject([
      { heading: "Menu", content: "All day long." },
      {
        heading: "Menu > Drinks",
        content: "- Tea\n- Coffee\n\nSize | Price\nSmall | 2\n\na\n  b",
      },
    ]);
  });

  test("is decoded as it declares", async () => {
    const latin = Uint8Array.from([...bytesOf('<meta charset="iso-8859-1"><p>Caf'), 0xe9]);
    expect((await split("text/html", latin)).chunks[0]?.content).toBe("Café");
    const typed = Uint8Array.from([...bytesOf("<p>Caf"), 0xe9]);
    expect((await split("text/html", typed, "latin1")).chunks[0]?.content).toBe("Café");
  });
});

describe("text", () => {
  test("is split into chunks of about 400 tokens, between sentences, and loses nothing", async () => {
    const sentences = Array.from({ length: 400 }, (_, n) => `This is the sentence number ${n}.`);
    const { chunks } = await split("text/plain", sentences.join(" "));
    expect(chunks.length).toBeGreaterThan(5);
    for (const { content } of chunks) {
      expect(content.length).toBeLessThanOrEqual(1600);
      expect(content).toMatch(/^This .*\.$/);
    }
    expect(chunks.map(({ content }) => content).join(" ")).toBe(sentences.join(" "));
  });

  test("has fewer characters in a chunk in Chinese and Japanese, and no divided character", async () => {
    const text = "这是一个句子。".repeat(300) + "𠮷".repeat(1000);
    const { chunks } = await split("text/plain", text);
    expect(chunks.map(({ content }) => content).join("")).toBe(text);
    for (const { content } of chunks) {
      expect(content.length).toBeLessThanOrEqual(400);
      expect(content).not.toMatch(/^\p{Cs}|\p{Cs}$/u);
    }
  });

  test("is read as UTF-16 by its mark", async () => {
    const bytes = Uint8Array.from([0xff, 0xfe, 0x48, 0, 0x69, 0]);
    expect((await split("text/plain", bytes)).chunks[0]?.content).toBe("Hi");
  });
});

test("PDF has its pages", async () => {
  const { chunks } = await split(
    "application/pdf",
    new Uint8Array(pdfOf("First page.", "Second page.")),
  );
  expect(chunks).toMatchObject([
    { page: 1, content: "First page." },
    { page: 2, content: "Second page." },
  ]);
});

const MANY_SECTIONS = Array.from({ length: 50_001 }, (_, n) => `# ${n}\na\n`).join("");

describe("a document is refused", () => {
  test.for([
    ["an empty text", "text/plain", " \n ", undefined, "empty_document", "no text"],
    [
      "a page of scripts",
      "text/html",
      "<script>a()</script>",
      undefined,
      "empty_document",
      "no text",
    ],
    [
      "a PDF with a password",
      "application/pdf",
      "%PDF-1.7\ntrailer << /Size 9 /Encrypt 8 0 R >>",
      undefined,
      "unreadable_document",
      "is protected by a password",
    ],
    [
      "a PDF of too many pages",
      "application/pdf",
      new Uint8Array(pdfOf(...Array.from({ length: 5_001 }, () => "a"))),
      undefined,
      "unreadable_document",
      "5000",
    ],
    [
      "a text as a PDF",
      "application/pdf",
      "Hello.",
      undefined,
      "unreadable_document",
      "is not a PDF",
    ],
    [
      "a broken PDF",
      "application/pdf",
      "%PDF-1.7 and no more",
      undefined,
      "unreadable_document",
      "PDF",
    ],
    [
      "a text that is not UTF-8",
      "text/plain",
      Uint8Array.from([0xe9, 0x41]),
      undefined,
      "unreadable_document",
      "charset",
    ],
    ["a text with NUL", "text/plain", "a\0b", undefined, "unreadable_document", "NUL"],
    ["an unknown charset", "text/plain", "a", "klingon", "unreadable_document", '"klingon"'],
    ["an office document", "application/msword", "a", undefined, "no_extractor", "text/plain"],
    [
      "a flood of sections",
      "text/markdown",
      MANY_SECTIONS,
      undefined,
      "document_too_large",
      "50000",
    ],
  ] as const)("%s", async ([, mimeType, content, charset, code, message]) => {
    const refused = split(mimeType, content, charset);
    await expect(refused).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  test("a PDF that no reader accepts is refused with the remedy", async () => {
    const document = {
      bytes: new Uint8Array(pdfOf("Text.")),
      mimeType: "application/pdf",
      charset: undefined,
    };
    await expect(splitDocument(document, undefined, () => {})).rejects.toMatchObject({
      code: "no_extractor",
      message: expect.stringContaining("troupe/documents"),
    });
    const nothing = {
      pages: () => Promise.reject(new DocumentError("no_extractor", "nothing")),
    };
    await expect(
      splitDocument(
        document,
        async () => nothing,
        () => {},
      ),
    ).rejects.toMatchObject({
      code: "no_extractor",
    });
  });
});

test("hostile depths and floods take time in proportion to their size", async () => {
  const size = 400_000;
  const hostile = {
    "text/markdown": ["> ", "- ", "[", "*", "`", "|-", "<div>", "# h ", "\n\n"],
    "text/html": ["<div>", "<p><b>", "<ul><li>", "<table><tr><td>", "<", "&amp;", "<!--", "</p>"],
  };
  for (const [mimeType, patterns] of Object.entries(hostile)) {
    for (const pattern of patterns) {
      const text = `word ${pattern.repeat(size / pattern.length)}`;
      const { chunks } = await split(mimeType, text);
      expect(chunks.length, pattern).toBeGreaterThan(0);
    }
  }
});
