// Texts of strangers: what the functions cost that read them grows with the text, whatever is in it.
import { describe, expect, test } from "vitest";
import { ChunkWriter } from "#api/documents/chunks.ts";
import { HtmlText } from "#api/documents/html.ts";
import { MarkdownText } from "#api/documents/markdown.ts";
import { Outline } from "#api/documents/outline.ts";
import { windowsOf } from "#api/documents/text-windows.ts";
import { PlainText, type TextReader } from "#api/documents/text-reader.ts";
import { withoutThoughts } from "#api/http/routes/spoken-text.ts";
import { callArguments } from "#components/models/chat/call-arguments.ts";
import { CallAssembly } from "#components/models/chat/call-assembly.ts";
import { toolNameOf } from "#components/models/chat/tool-name.ts";
import { errorText } from "#components/models/http/errors.ts";
import { reportOf } from "#components/models/http/server-report.ts";
import { parseArguments } from "#core/agents/assistant/tool-calls.ts";
import { extractCodeBlocks } from "#core/code/markdown-code.ts";
import { asData } from "#core/memory/as-data.ts";
import { splitImages } from "#core/models/shown-images.ts";
import { openingOf, splitThought, unclearLength } from "#core/models/thought-tags.ts";
import { functionNames } from "#core/python/python-source.ts";
import { loadStemmers } from "#core/search/stem.ts";
import { queryWords, TOKENIZERS, tokensOf } from "#core/search/tokens.ts";
import { mentionedNames } from "#core/teams/selector/ask-model.ts";
import { parseTemplate } from "#core/text/format.ts";
import { jsonEnd, jsonErrorMessage } from "#core/text/json-error.ts";
import { extractJson } from "#core/text/model-json.ts";
import { onOneLine, withoutTrailingSpace } from "#core/text/python-space.ts";
import { pythonRepr } from "#core/text/python.ts";
import { Redaction } from "#secrets/redaction.ts";
import { shownWebhookUrl } from "#secrets/webhook-url.ts";
import { tableIn } from "../../console/text/csv.ts";
import { withoutEntities } from "../../console/text/foreign.ts";
import { lexer } from "../../console/text/lexer.ts";
import { completedMarkdown } from "../../console/text/completed-markdown.ts";
import { thoughtIn } from "../../console/text/thought.ts";
import { sampled } from "../support/samples.ts";

await loadStemmers();

/** Characters and beginnings that mean something to one of the readers, and some that do not, each repeated. */
const UNITS = [
  ...Array.from(" \t\n\r</>`~*_[](){}|:;-=+#.!?&\\\"'$%@,0aZé\u00a0\u2028。"),
  '\\"',
  '{"',
  '{"a":',
  "[1,",
  "<a ",
  "](",
  "- a\n",
  "a\n-\n",
  "| a ",
  "_a ",
  "{{",
  "a-",
  "A1",
  "sk-a",
  "wait ",
];
const SEEDS = ["", "turtle <", "```js\n", '{"', "$", "| a |\n|"];
const LENGTH = 100_000;
const MOST_MS = 1_000;

const READERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ["asData", (text) => asData("memory", text, { mark: "f3a1" })],
  ["extractCodeBlocks", (text) => extractCodeBlocks(text, ["python", "sh"])],
  ["settled", completedMarkdown],
  ["thoughtIn", thoughtIn],
  ["tableIn", tableIn],
  ["withoutEntities", withoutEntities],
  ["splitThought", (text) => [openingOf(text), unclearLength(text), splitThought(text, true)]],
  ["withoutThoughts", withoutThoughts],
  ["splitImages", splitImages],
  ["extractJson", attempted(extractJson)],
  ["jsonErrorMessage", (text) => [jsonErrorMessage(text), jsonEnd(text, 0)]],
  ["callArguments", callArguments],
  ["CallAssembly", callsInPieces],
  ["parseArguments", attempted(parseArguments)],
  ["toolNameOf", toolNameOf],
  ["errorText", (text) => errorText(text)],
  ["reportOf", (text) => [reportOf(text), reportOf([{ code: text }, { error: [text, { text }] }])]],
  ["mentionedNames", (text) => mentionedNames(text, ["a_a", "turtle", "writer"])],
  ["parseTemplate", attempted(parseTemplate)],
  ["pythonRepr", pythonRepr],
  ["onOneLine", (text) => [onOneLine(text), withoutTrailingSpace(text)]],
  ["functionNames", functionNames],
  ["Redaction", (text) => new Redaction({ api_key: "a secret of some length" }).redact(text)],
  ["shownWebhookUrl", attempted((text) => shownWebhookUrl(`https://a.example/${text}`))],
];

/** What does so much with each character that only one seed is tried. */
const THOROUGH: typeof READERS = [
  ["tokensOf", (text) => TOKENIZERS.map((tokenizer) => tokensOf(text, { tokenizer }))],
  ["queryWords", (text) => TOKENIZERS.map((tokenizer) => queryWords(text, { tokenizer }, []))],
  ["PlainText", (text) => chunksOf(text, (writer) => new PlainText(writer))],
  ["MarkdownText", (text) => chunksOf(text, (writer) => new MarkdownText(new Outline(writer)))],
  // Longer texts are shown as they are.
  ["lexer", (text) => lexer(text.slice(0, 60_000))],
  ["HtmlText", (text) => chunksOf(text, (writer) => new HtmlText(new Outline(writer)))],
];

/** Errors are answers, too: only their time counts. */
function attempted(read: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      return error;
    }
  };
}

/** A call whose arguments come in small pieces, each with the name of the tool, as some servers send them. */
function callsInPieces(text: string): unknown {
  const assembly = new CallAssembly();
  const part = { index: undefined, id: undefined, name: "write", extra: undefined };
  for (const piece of [`{"text":"`, ...(text.match(/[^]{1,4}/g) ?? [])])
    attempted((given) => assembly.add([{ ...part, arguments: given }]))(piece);
  return assembly.calls;
}

function chunksOf(text: string, reader: (writer: ChunkWriter) => TextReader): number {
  let count = 0;
  const writer = new ChunkWriter(() => void count++);
  const reading = reader(writer);
  for (const window of windowsOf(text)) reading.write(window);
  reading.end();
  writer.finish();
  return count;
}

describe.each(READERS)("the pattern of %s", (_name, read) => {
  test.each(sampled(SEEDS, 2).map((seed) => [seed]))(
    "takes a second at most for a long text after %j",
    (seed) => expectQuick(read, seed),
  );
});

test.each(THOROUGH)("%s reads a long text in a second", (_name, read) => expectQuick(read, ""));

function expectQuick(read: (text: string) => unknown, seed: string): void {
  for (const unit of UNITS) {
    // The time of this process alone: others may use the processor, too.
    const started = process.cpuUsage();
    read(seed + unit.repeat(LENGTH / unit.length));
    const ms = process.cpuUsage(started).user / 1_000;
    expect(ms, `${LENGTH} characters of ${JSON.stringify(unit)}`).toBeLessThan(MOST_MS);
  }
}
