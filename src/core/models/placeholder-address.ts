import type { Issue } from "../errors.ts";
import { pathOf } from "../issues.ts";

/** The keys of the address of a model in a client's config. */
const ADDRESS_KEYS: ReadonlySet<string> = new Set(["base_url", "azure_endpoint"]);

/** `https://{your-endpoint}.example.com`: no host has such a name. */
const BRACES = /\{[^{}]*\}|<[^<>]*>/;

/** Words of a text that is not a URL. */
const WORDS = /^\*{3,}$|(^|[^a-z])(your|insert|replace)([^a-z]|$)|placeholder|redacted|x{3,}/i;

/** True if an address is a text that is to be replaced, as examples, galleries and redacted dumps contain it. */
export function isPlaceholder(address: string): boolean {
  return BRACES.test(address) || (!URL.canParse(address) && WORDS.test(address));
}

/** Says what to put in the place of such a text. */
export function placeholderMessage(address: string): string {
  return `is a placeholder (${JSON.stringify(address)}): replace it by the address of the model server, an https:// URL. Until then the model cannot be called`;
}

/** The addresses in component JSON that are placeholders, and that another component does not have already. */
export function newPlaceholders(component: unknown, shown: unknown, path: string): Issue[] {
  const known = new Set(placeholdersIn(shown, path).map(({ address }) => address));
  return placeholdersIn(component, path)
    .filter(({ address }) => !known.has(address))
    .map(({ address, path: place }) => ({ path: place, message: placeholderMessage(address) }));
}

function placeholdersIn(value: unknown, path: string): { path: string; address: string }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = pathOf([Array.isArray(value) ? Number(key) : key], path);
    if (typeof inner !== "string") return placeholdersIn(inner, place);
    const is = ADDRESS_KEYS.has(key) && isPlaceholder(inner);
    return is ? [{ path: place, address: inner }] : [];
  });
}
