import { trimEnd } from "../../core/text/trim-end.ts";
import { ValueError } from "../../core/errors.ts";

/** The destination and form of telemetry, by OpenTelemetry's names for the settings. */
export interface OtlpSettings {
  traces: string;
  metrics: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Resource attributes, `service.name` among them. */
  resource: Readonly<Record<string, string>>;
  /** The fraction of traces that is sent when no caller decides: 0 to 1. */
  ratio: number;
  /** True if spans of model calls have the messages that were sent and answered. */
  contents: boolean;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** A collector that takes longer keeps the object in memory. */
const LONGEST_TIMEOUT_MS = 30_000;

/** @returns undefined without an endpoint @throws ValueError naming the setting that cannot be used */
export function otlpSettings(
  settings: Readonly<Record<string, unknown>>,
): OtlpSettings | undefined {
  const text = (name: string): string => {
    const value = settings[name];
    return typeof value === "string" ? value.trim() : "";
  };
  const endpoint = text("OTEL_EXPORTER_OTLP_ENDPOINT");
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (endpoint !== "" && (url === undefined || !/^https?:$/.test(url.protocol))) {
    throw new ValueError(
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL, such as https://otel.example.com:4318",
    );
  }
  const base = trimEnd(endpoint, "/");
  const read: OtlpSettings = {
    traces: `${base}/v1/traces`,
    metrics: `${base}/v1/metrics`,
    headers: headersOf(text("OTEL_EXPORTER_OTLP_HEADERS")),
    timeoutMs: numberOf("OTEL_EXPORTER_OTLP_TIMEOUT", text, DEFAULT_TIMEOUT_MS, LONGEST_TIMEOUT_MS),
    resource: {
      "service.name": text("OTEL_SERVICE_NAME") || "troupe",
      ...pairsOf("OTEL_RESOURCE_ATTRIBUTES", text("OTEL_RESOURCE_ATTRIBUTES")),
      ...(text("OTEL_SERVICE_NAME") !== "" && { "service.name": text("OTEL_SERVICE_NAME") }),
    },
    ratio: numberOf("OTEL_TRACES_SAMPLER_ARG", text, 1, 1),
    contents: booleanOf("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", text),
  };
  return endpoint === "" ? undefined : read;
}

function headersOf(text: string): Record<string, string> {
  const headers = pairsOf("OTEL_EXPORTER_OTLP_HEADERS", text);
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    // Not the text itself, which is a secret.
    throw new ValueError("OTEL_EXPORTER_OTLP_HEADERS has an invalid name or value of a header");
  }
}

/** `name=value` pairs, separated by commas; values are percent-encoded. */
function pairsOf(setting: string, text: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const entry of text.split(",")) {
    if (entry.trim() === "") continue;
    const [name = "", ...value] = entry.split("=");
    if (name.trim() === "" || value.length === 0) {
      throw new ValueError(`${setting} must be name=value pairs, separated by commas`);
    }
    try {
      pairs[name.trim()] = decodeURIComponent(value.join("=").trim());
    } catch {
      throw new ValueError(`${setting} has a value that is not percent-encoded correctly`);
    }
  }
  return pairs;
}

function booleanOf(name: string, text: (name: string) => string): boolean {
  const setting = text(name).toLowerCase();
  if (setting === "" || setting === "false") return false;
  if (setting === "true") return true;
  throw new ValueError(`${name} is ${JSON.stringify(setting)}: it must be true or false`);
}

function numberOf(
  name: string,
  text: (name: string) => string,
  byDefault: number,
  most: number,
): number {
  const setting = text(name);
  if (setting === "") return byDefault;
  const value = Number(setting);
  if (Number.isFinite(value) && value >= 0 && value <= most) return value;
  throw new ValueError(
    `${name} is ${JSON.stringify(setting)}: it must be a number from 0 to ${most}`,
  );
}
