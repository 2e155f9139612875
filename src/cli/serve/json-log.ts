import type { ServerLog } from "../server/process/log.ts";
import { isNoise } from "../server/process/noise.ts";

/** Fields of a line of the log, besides its time and level. */
export type LogFields = Readonly<Record<string, unknown>>;

export type LogLevel = "info" | "warn" | "error";

/** Writes each entry as a line of JSON. */
export class JsonLog implements ServerLog {
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void = (line) => process.stdout.write(line)) {
    this.#write = write;
  }

  line(level: LogLevel, text: string): void {
    this.entry(level, { message: text });
  }

  request({ method, url, status, ms }: Parameters<ServerLog["request"]>[0]): void {
    // A query may contain a token.
    const [path] = url.split("?");
    this.entry("info", { event: "request", method, path, status: status ?? null, ms });
  }

  entry(level: LogLevel, fields: LogFields): void {
    this.#write(`${JSON.stringify({ time: new Date().toISOString(), level, ...fields })}\n`);
  }

  /** Logs a line of workerd: an entry of the Worker, which is JSON itself, or a message of the runtime. */
  runtimeLine(line: string): void {
    const { level, message } = structuredLine(line);
    if (isNoise(message)) return;
    this.entry(level, asFields(message) ?? { message });
  }
}

/** The parts of a line that workerd has written with structured logging. Before it has read its configuration, it writes text. */
function structuredLine(line: string): { level: LogLevel; message: string } {
  const { level, message } = asFields(line) ?? {};
  if (typeof message !== "string") return { level: "error", message: line };
  return { level: isLevel(level) ? level : "info", message };
}

function isLevel(level: unknown): level is LogLevel {
  return level === "info" || level === "warn" || level === "error";
}

function asFields(text: string): LogFields | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as LogFields;
  } catch {
    return undefined;
  }
}
