import type { Language } from "./languages.ts";

/** The language of texts that show none: the one of most names and codes. */
const DEFAULT: Language = "en";
/** The beginning of a text that is looked at, in UTF-16 units. */
const SAMPLE = 4_000;

const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/\p{Script=Hangul}/gu, "ko"],
  [/\p{Script=Cyrillic}/gu, "ru"],
  [/\p{Script=Greek}/gu, "el"],
  [/\p{Script=Arabic}/gu, "ar"],
  [/\p{Script=Devanagari}/gu, "hi"],
  [/\p{Script=Tamil}/gu, "ta"],
];

/** Frequent words that say which language a text in Latin letters is in. */
const FREQUENT: Partial<Record<Language, string>> = {
  da: "betales dage inden ugen uge af alle at blev den der det du efter eller en er et for fra få han har hun hvad hvis hvor i ikke ind jeg kan man med men når og om op over på samt sig siger skal som til to tre ud under var ved vi være af også",
  de: "tage tagen zwei drei jahre aber alle als am an auch auf aus bei beim bis das dass dem den der des die dies diese dieser durch ein eine einem einen einer eines er es für haben hat ich ihr im in ins ist jede kann kein keine man mit muss müssen nach nicht noch nur oder pro sein sich sie sind so sowie über um und uns unser unter vom von vor war was wenn werden wie wir wird wo wurde zu zum zur zwischen",
  en: "two three days years a about all an and any are as at be been but by can do does for from has have he her his how i if in into is it its may more must my no not of on one only or our out shall she should so than that the their them then there these they this to up us use was we were what when where which who will with would you your",
  es: "al así con como cada cuando de del desde donde el en entre es esta este está están ha hay la las le lo los más muy no o para pero por puede que se sea ser si sin sobre son su sus también tiene todos tres un una y ya",
  fi: "kaksi päivää saa saavat kolme auki ei että he hän ja jo joka jos kaikki kanssa kuin kun me minä mitä mutta myös ne ole oli olla on ovat se sekä sen siitä sinä tai tämä tämän vain voi yli",
  fr: "à au aux avec car ce ces cette chaque dans de des dont du elle en entre est et être il ils je la le les leur lors mais même ne nos notre nous on ou où par pas plus pour qu que qui sa sans se ses si son sont sous sur tous tout trois un une vos votre vous y",
  hu: "a az ahogy aki amely azt csak de egy el és ez ezt ha hogy is kell kérjük lehet már meg mert mint még minden nem nincs sem szerint van vagy volt",
  id: "ada adalah agar akan atau bagi bahwa bisa dalam dan dapat dari dengan di harus ini itu juga kami karena ke kepada mereka oleh pada para saat saya sebagai secara telah tersebut tidak untuk yang",
  it: "ai al alla alle che chi come con cui da dal dalla degli dei del della delle dello di e è entro gli ha i il in la le lo ma nei nel nella non o ogni per più può quando questa questo se sei si sono su sul tra tre un una uno",
  nl: "dagen drie mogen twee wordt aan al als bij dan dat de deze die dit door een elke en er geen haar had heeft het hij hoe ik in is je kan maar met moet moeten mijn na naar niet nog of om onder onze ook op over per te tot u uit van voor was wat we wordt worden zich zijn zij zonder",
  no: "betales dager innen jobbe uken uke alle at av ble da de den der det du eller en er et etter for fra før ha han har hun hva hvis hvor i ikke inn jeg kan man med men når og også om opp over på seg sier skal som til to tre ut under var ved vi være",
  pt: "a ao aos as às até cada com como da das de do dos e é ela ele em entre está foi há isso já mais mas muito na nas não no nos o os ou para pela pelo por pode que quando se sem ser seu sua são também tem três um uma você",
  ro: "a ai al ale am are au ca care cu că când de din după este fi fie fost în între la mai nu o pe pentru prin sau se sunt și să un unei unui va",
  sv: "arbeta betalas dagar inom två alla att av bara de den det du där efter ej eller en ett från få för ha han har hon hur i inte jag kan man med men mot måste ni nu när och också om på se sig ska som till under upp ut var varje vi vid är även över",
  tr: "gün içinde iki yıl ama ancak bir bu çok da daha de değil diye en gibi göre her için ile ise kadar ki mı mi ne olan olarak oldu olduğu sonra şu tüm üç üzere var ve veya ya yok",
};

/** Letters and endings that few languages have. A word with them counts less than a frequent word, because names of other languages have them, too. */
const LETTERS: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/ß/, ["de"]],
  [/sch(?!a)|ung(s|en)?|(keit|heit|lich)(s|en)?/, ["de"]],
  [/ö/, ["de", "sv", "fi", "tr", "hu"]],
  [/ü/, ["de", "tr", "hu"]],
  [/ä/, ["de", "fi", "sv"]],
  [/ä[a-z]{0,3}ä|yö|(oo|öö|uu)n?$/, ["fi"]],
  [/å/, ["sv", "da", "no"]],
  [/[æø]/, ["da", "no"]],
  [/ñ|ción|mente$/, ["es"]],
  [/[áíóú]/, ["es", "pt", "hu"]],
  [/[ãõ]|ção/, ["pt"]],
  [/[êèâîûœ]|eau|eux$/, ["fr"]],
  [/é/, ["fr", "es", "pt", "hu"]],
  [/ç/, ["fr", "pt", "tr"]],
  [/[àìòù]|zione|gli/, ["it"]],
  [/[őű]|gy|sz|zs/, ["hu"]],
  [/[ăâîșțşţ]|(ul|ele|ilor)$/, ["ro"]],
  [/[ğışİ]|(lar|ler)$|(lar|ler)[iı]/, ["tr"]],
  [/ij|aa[^a]|heid|oo[^a]|uu/, ["nl"]],
  [/(ssa|ssä|lla|llä|sta|stä|inen)$|yy|ää|kk/, ["fi"]],
  [/^(mem|men|ber|per|pem|pen)|nya$|kan$/, ["id"]],
  [/th|wh|ght|tion(s|al)?$|ing$/, ["en"]],
];
const LETTER_WEIGHT = 0.4;
/** Decides where nothing else does. */
const LEAST = 0.01;

/** The weight of each frequent word for its languages: less if several have it. */
const WEIGHTS: ReadonlyMap<string, readonly (readonly [Language, number])[]> = (() => {
  const languages = new Map<string, Language[]>();
  for (const [language, words] of Object.entries(FREQUENT) as [Language, string][]) {
    for (const word of new Set(words.split(" "))) {
      languages.set(word, [...(languages.get(word) ?? []), language]);
    }
  }
  return new Map(
    Array.from(languages, ([word, having]) => [
      word,
      having.map((language) => [language, 1 / having.length] as const),
    ]),
  );
})();

/** The language of a normalized text, by its script and its most frequent words: the same text always has the same one. */
export function detectLanguage(text: string): Language {
  const sample = text.slice(0, SAMPLE);
  const latin = sample.match(/\p{Script=Latin}/gu)?.length ?? 0;
  for (const [script, language] of SCRIPTS) {
    if ((sample.match(script)?.length ?? 0) > latin) return language;
  }
  const scores = new Map<Language, number>([[DEFAULT, LEAST]]);
  const add = (language: Language, weight: number): void =>
    void scores.set(language, (scores.get(language) ?? 0) + weight);
  for (const word of sample.toLowerCase().match(/\p{L}+/gu) ?? []) {
    for (const [language, weight] of WEIGHTS.get(word) ?? []) add(language, weight);
    for (const [letters, languages] of LETTERS) {
      if (!letters.test(word)) continue;
      for (const language of languages) add(language, LETTER_WEIGHT / languages.length);
    }
  }
  const best = [...scores].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return best[0]?.[0] ?? DEFAULT;
}
