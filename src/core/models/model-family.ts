/** Model families by maker: AutoGen's (`ModelFamily`), and those of newer models. */
const FAMILIES = {
  openai: ["gpt-5", "gpt-41", "gpt-45", "gpt-4o", "o1", "o3", "o4", "gpt-4", "gpt-35"],
  claude: [
    "claude-3-haiku",
    "claude-3-sonnet",
    "claude-3-opus",
    "claude-3-5-haiku",
    "claude-3-5-sonnet",
    "claude-3-7-sonnet",
    "claude-4-opus",
    "claude-4-sonnet",
    "claude-4-haiku",
    "claude-5",
  ],
  gemini: [
    "gemini-1.5-flash",
    "gemini-1.5-pro",
    "gemini-2.0-flash",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-3",
  ],
  llama: ["llama-3.3-8b", "llama-3.3-70b", "llama-4-scout", "llama-4-maverick"],
  mistral: ["codestral", "open-codestral-mamba", "mistral", "ministral", "pixtral"],
} as const;

export function isOpenAI(family: string): boolean {
  return includes(FAMILIES.openai, family);
}

export function isClaude(family: string): boolean {
  return includes(FAMILIES.claude, family);
}

export function isGemini(family: string): boolean {
  return includes(FAMILIES.gemini, family);
}

export function isLlama(family: string): boolean {
  return includes(FAMILIES.llama, family);
}

export function isMistral(family: string): boolean {
  return includes(FAMILIES.mistral, family);
}

function includes(families: readonly string[], family: string): boolean {
  return families.includes(family);
}
