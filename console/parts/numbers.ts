const compact = new Intl.NumberFormat(undefined, {
  notation: "compact",
  maximumSignificantDigits: 3,
});
const money = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

/** `1.2K tokens`. */
export function tokensOf({ prompt_tokens, completion_tokens }: Usage): string {
  const sum = prompt_tokens + completion_tokens;
  return `${compact.format(sum)} ${sum === 1 ? "token" : "tokens"}`;
}

/** In the currency of the server's prices, which it does not name. */
export function costOf(cost: number): string {
  return money.format(cost);
}

/** `20.000 characters`, `1.0 MB`. */
export function sizeOf(text: string): string {
  return `${compact.format(text.length)} characters`;
}
