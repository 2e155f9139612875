import { describe, expect, test } from "vitest";
import { LANGUAGES } from "#core/search/languages.ts";
import { languagesIn, rank } from "#core/search/rank.ts";
import { loadStemmers } from "#core/search/stem.ts";
import { countTokens, queryWords, type Tokenizer, tokensOf } from "#core/search/tokens.ts";
import { WORD_CASES } from "../../support/word-cases.ts";

await loadStemmers();

/** Tokens without their marks. */
function plain(text: string, tokenizer: Tokenizer): string[] {
  return tokensOf(text, { tokenizer }).map((token) => token.replaceAll(/[\uf8f0-\uf8ff]/g, ""));
}

describe.each(WORD_CASES)("the index finds by words: $name", ({ texts, questions }) => {
  const counted = texts.map((text) => countTokens(text, { tokenizer: "porter" }));

  test.each(questions)("%s", (question, expected) => {
    const words = queryWords(question, { tokenizer: "porter" }, languagesIn(counted));
    expect(rank(counted, words)[0]?.index ?? null).toBe(expected);
  });
});

test.each([
  ["unicode61", "Running, RUNS!", ["running", "runs"]],
  ["unicode61", "L’été à Zürich — ὥσπερ Ёлка", ["l", "ete", "a", "zurich", "ωσπερ", "елка"]],
  ["unicode61", "हिन्दी 한국어 天气很好", ["हिन्दी", "한국어", "天气", "很好", "气很"]],
  ["trigram", "Ab cd", ["ab ", "b c", " cd"]],
  ["trigram", "天气很好", ["天气很", "气很好"]],
  ["trigram", "🙂🙃🙂", ["🙂🙃🙂"]],
  ["trigram", "ab", []],
  ["porter", "Running", ["fen", "running", "nur"]],
] as const)("the tokens with %s of %j are %j", (tokenizer, text, tokens) => {
  expect(plain(text, tokenizer)).toEqual(tokens);
});

// A chunk of a document, one sentence, names, and texts that say nothing.
test.each([
  ["de", "Die Rechnung wird nach 30 Tagen bezahlt."],
  ["nl", "De factuur wordt binnen dertig dagen betaald."],
  ["sv", "Fakturan betalas inom trettio dagar."],
  ["da", "Fakturaen betales inden for tredive dage."],
  ["no", "Fakturaen betales innen tretti dager."],
  ["fi", "Lasku maksetaan kolmenkymmenen päivän kuluessa."],
  ["hu", "A számlát harminc napon belül kell kifizetni."],
  ["fr", "La facture est payée dans les trente jours."],
  ["es", "La factura se paga en treinta días."],
  ["pt", "A fatura é paga em trinta dias."],
  ["it", "La fattura viene pagata entro trenta giorni."],
  ["ro", "Factura se plătește în treizeci de zile."],
  ["tr", "Fatura otuz gün içinde ödenir."],
  ["id", "Faktur dibayar dalam tiga puluh hari."],
  ["en", "Invoices are paid within thirty days."],
  ["ru", "Счёт оплачивается в течение тридцати дней."],
  ["el", "Το τιμολόγιο πληρώνεται σε τριάντα ημέρες."],
  ["ar", "تدفع الفاتورة خلال ثلاثين يوما."],
  ["hi", "चालान का भुगतान तीस दिनों में किया जाता है।"],
  ["ta", "விலைப்பட்டியல் முப்பது நாட்களில் செலுத்தப்படும்."],
  ["ko", "송장은 30일 이내에 지급됩니다."],
  ["en", "function readBody(value) { return value; }"],
  ["en", "C++"],
  ["en", ""],
])("the detection finds the language %s of %j", (language, text) => {
  expect(plain(text, "porter")[0]).toBe(`f${language}`);
});

test.each(LANGUAGES)(
  "a text may be given the language %s, which questions to it have, too",
  (language) => {
    const by = { tokenizer: "porter", language } as const;
    const [token = ""] = tokensOf("Submarines", by);
    expect(token.slice(1, -1)).toBe(`g${language}`);
    const [word] = queryWords("Submarines", by, [token]);
    expect(new Set(tokensOf("Submarines", by))).toEqual(new Set([token, ...(word?.tokens ?? [])]));
  },
);

describe("the words of a query", () => {
  test("occur once, with their stems in each language of the index", () => {
    const tokens = (query: string, ...texts: string[]): number[] =>
      queryWords(
        query,
        { tokenizer: "porter" },
        texts.flatMap((text) => tokensOf(text, { tokenizer: "porter" }).slice(0, 1)),
      ).map((word) => word.tokens.length);
    expect(tokens("Running runs ran RUNNING?", "the shop")).toEqual([2, 2, 2]);
    expect(tokens("Verzekeringen", "the shop", "de winkel wordt", "die Straße")).toEqual([4]);
    expect(
      queryWords("ab cde cdef", { tokenizer: "trigram" }, []).map((word) => word.tokens),
    ).toEqual([["cde"], ["def"]]);
  });

  test("contain nothing that SQLite would read as more than a word", () => {
    const words = queryWords('a" OR b* NEAR(c, d) \uf8f1x "+C++"', { tokenizer: "porter" }, []);
    for (const token of words.flatMap(({ tokens, longer }) => [...tokens, ...longer])) {
      expect(token).toMatch(/^[\p{L}\p{N}\p{M}\p{Co}]+$/u);
    }
  });

  test("are cut to the rarest 64 of a long text", () => {
    const words = Array.from({ length: 42_000 }, (_, index) => `common${index % 1_000}`);
    const texts = [...Array.from({ length: 9 }, () => words.slice(0, 1_000).join(" ")), "needle"];
    const counted = texts.map((text) => countTokens(text, { tokenizer: "porter" }));
    const query = `${words.join(" ")} needle`;
    const find = (text: string): number[] =>
      rank(counted, queryWords(text, { tokenizer: "porter" }, [])).map(({ index }) => index);
    expect(query.length).toBeGreaterThan(400_000);
    // The word is beyond what is read of so long a query.
    expect(find(query)).not.toContain(9);
    expect(find(`${words.slice(0, 1_500).join(" ")} needle`)).toContain(9);
  });
});
