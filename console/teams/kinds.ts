/** A class in words: `autogen_agentchat.teams.RoundRobinGroupChat` is `Round robin group chat`. */
export function kindOf(provider: string): string {
  const name = provider.split(".").at(-1) ?? provider;
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").split(" ");
  return words.map((word, index) => (index === 0 ? word : lower(word))).join(" ");
}

/** The same, shorter for model clients: `autogen_ext.models.openai.OpenAIChatCompletionClient` is `OpenAI`. */
export function shortKindOf(provider: string): string {
  return kindOf(provider.replace(/ChatCompletionClient$/, "")).replace(/open AI/i, "OpenAI");
}

/** Abbreviations stay as they are. */
function lower(word: string): string {
  return /^[A-Z]{2}/.test(word) ? word : word.toLowerCase();
}

/** The name of a template in words. */
export function titleOf(template: string): string {
  const words = template.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
