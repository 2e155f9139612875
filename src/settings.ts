import { DEFAULT_TENANT_LIMITS } from "./contract/tenant-limits.ts";
import type { TenantLimits } from "./contract/tenant.ts";
import { DEFAULT_LIMITS, type Limits } from "./http/limits.ts";

/**
 * The settings of the Worker besides the limits. docs/configuration.md describes each; `npm start` hands on those that its
 * environment has.
 */
export const SETTINGS = [
  /** "1" opens the API to requests from this machine, without keys. */
  "TROUPE_OPEN",
  /** 32 bytes as base64: the key that secrets in stored components are encrypted with. */
  "SECRETS_KEY",
  /** JSON: the hosts that each secret of the Worker may be sent to. */
  "SECRET_HOSTS",
  /** The hosts that may be asked, separated by commas. */
  "ALLOWED_EGRESS",
  /** The hosts that webhooks may be sent to besides, separated by commas; `*`: any public one. */
  "WEBHOOK_HOSTS",
  /** The URL of the sandbox: a service that speaks the protocol of docs/sandbox.md. */
  "SANDBOX_URL",
  "SANDBOX_KEY",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_MODEL",
  "OLLAMA_HOST",
  /** JSON: prices of models per million tokens, `{ model: { input, output } }`. */
  "MODEL_PRICES",
  /** JSON: static keys, `[{ hash, tenant, scopes, name? }]`. */
  "API_KEYS",
  /** 32 bytes as base64: signs created keys, instead of SECRETS_KEY. */
  "CREATED_KEYS_SECRET",
  /** Requests without a valid credential that an address may send in a minute. */
  "REFUSALS_PER_MINUTE",
  /** SHA-256 of the operator's key, hex. */
  "OPERATOR_KEY_HASH",
  /** Of identity tokens. */
  "JWT_ISSUER",
  "JWT_AUDIENCE",
  "JWT_JWKS_URL",
  "JWT_TENANT_CLAIM",
  "JWT_SCOPES_CLAIM",
  /** The URL of an OpenTelemetry collector (OTLP over HTTP), and the headers and milliseconds of its requests. */
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TIMEOUT",
  "OTEL_SERVICE_NAME",
  "OTEL_RESOURCE_ATTRIBUTES",
  /** The part of the traces that is sent, 0 to 1. */
  "OTEL_TRACES_SAMPLER_ARG",
  /** "true" sends what models are sent and answer. */
  "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
  /** The pages that may call the API from a browser, separated by commas. */
  "ALLOWED_ORIGINS",
  /** The team that is shown to anybody as the A2A agent of this host: `tenant/team`. */
  "A2A_TEAM",
  /** Seconds without a task after which a conversation of an A2A caller is erased. */
  "A2A_IDLE_SECONDS",
  /** A private JWK that agent cards are signed with. */
  "A2A_CARD_KEY",
  /** "off" leaves the console out. */
  "CONSOLE",
] as const;

export type LimitName = Uppercase<keyof Limits> | `TENANT_${Uppercase<keyof TenantLimits>}`;

export type SettingName = (typeof SETTINGS)[number] | LimitName;

/** The names of all settings, the limits included. */
export const SETTING_NAMES: readonly SettingName[] = [
  ...SETTINGS,
  ...(Object.keys(DEFAULT_LIMITS).map((name) => name.toUpperCase()) as LimitName[]),
  ...(Object.keys(DEFAULT_TENANT_LIMITS).map(
    (name) => `TENANT_${name.toUpperCase()}`,
  ) as LimitName[]),
];
