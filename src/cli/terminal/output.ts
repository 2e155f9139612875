import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printLine(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/**
 * Removes the control characters from agents' text, except line feed and tab: a terminal would act on them.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

/** Styles text where the stream is a terminal and NO_COLOR is not set. */
export function styler(stream: NodeJS.WriteStream): (format: Format, text: string) => string {
  const { NO_COLOR, TERM } = process.env;
  const plain = !stream.isTTY || Boolean(NO_COLOR) || TERM === "dumb";
  return (format, text) => (plain ? text : styleText(format, text, { validateStream: false }));
}
