const compact = new Intl.NumberFormat(undefined, {
  notation: "compact",
  maximumSignificantDigits: 3,
});
const short = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat(undefined, {
  style: "percent",
  maximumSignificantDigits: 2,
});

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens?: number | undefined;
  reasoning_tokens?: number | undefined;
  estimated_tokens?: number | undefined;
}

/** `1.2K`. */
export function shortNumber(value: number): string {
  return compact.format(value);
}

/** `1 run`, `1,200 runs`. @param many the plural, if it is not formed with an s */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** `1.2K tokens`. */
export function tokensOf({ prompt_tokens, completion_tokens }: Usage): string {
  const sum = prompt_tokens + completion_tokens;
  return `${shortNumber(sum)} ${sum === 1 ? "token" : "tokens"}`;
}

/** `12K in (9.1K cached), 340 out (120 reasoning)`. */
export function usageText(usage: Usage): string {
  const part = (tokens: number | undefined, what: string): string =>
    tokens === undefined ? "" : ` (${shortNumber(tokens)} ${what})`;
  const input = `${shortNumber(usage.prompt_tokens)} in${part(usage.cached_tokens, "cached")}`;
  const output = `${shortNumber(usage.completion_tokens)} out${part(usage.reasoning_tokens, "reasoning")}`;
  const { estimated_tokens: estimated } = usage;
  const rest = estimated === undefined ? "" : `, ${shortNumber(estimated)} of them estimated`;
  return `${input}, ${output}${rest}`;
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** `340 ms`, `2.5 s`, `3 min 4 s`, `2 d 5 h`: the two largest units. */
export function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${Number((ms / 1_000).toFixed(ms < 9_995 ? 2 : 1))} s`;
  const seconds = Math.round(ms / 1_000);
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  const [unit, size] = UNITS[first] ?? ["s", 1];
  const [below, part] = UNITS[first + 1] ?? ["s", 1];
  const rest = Math.floor((seconds % size) / part);
  const whole = `${Math.floor(seconds / size)} ${unit}`;
  return rest === 0 ? whole : `${whole} ${rest} ${below}`;
}

/** The currency of the server's prices; null if it is not known. */
let currency: string | null = null;

/** Sets the currency of all costs on the page. */
export function setCurrency(code: string | null): void {
  currency = code;
}

/** An amount in the currency of the server's prices: small ones with three digits, others with the decimals of the currency. */
export function costOf(cost: number): string {
  const digits = cost > 0 && cost < 1 ? { maximumSignificantDigits: 3 } : {};
  if (currency === null) return short.format(cost);
  return new Intl.NumberFormat(undefined, { style: "currency", currency, ...digits }).format(cost);
}

/** `3.8%`; empty if there is nothing of which it is a share. */
export function shareOf(part: number, whole: number): string {
  return whole === 0 ? "" : percent.format(part / whole);
}

/** The share of the runs with an outcome that failed. */
export function failureRate(runs: Record<"completed" | "failed" | "cancelled", number>): string {
  return shareOf(runs.failed, runs.completed + runs.failed + runs.cancelled);
}

/** `20.000 characters`, `1.0 MB`. */
export function sizeOf(text: string): string {
  return `${compact.format(text.length)} characters`;
}

const SIZES = ["B", "KB", "MB", "GB"];

/** `1.2 MB`, of 1,000 KB each. */
export function bytesOf(bytes: number): string {
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${short.format(bytes / 1000 ** step)} ${SIZES[step]}`;
}
