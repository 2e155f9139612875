import { DEFAULT_TENANT_LIMITS } from "../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../contract/tenant/tenant.ts";
import { DEFAULT_LIMITS, type Limits } from "../api/http/endpoint/limits.ts";

/**
 * The settings of the Worker besides the limits. docs/configuration.md describes each. `npm start` passes them on from its
 * environment.
 */
export const SETTINGS = [
  /** "1" opens the API to requests from this machine, without keys. */
  "TROUPE_OPEN",
  /** 32 bytes as base64: the key that encrypts secrets in stored components. */
  "SECRETS_KEY",
  /** The address at which browsers reach this service. */
  "PUBLIC_URL",
  /** JSON: the hosts that each secret of the Worker may be sent to. */
  "SECRET_HOSTS",
  /** The hosts that requests may be sent to, separated by commas. */
  "ALLOWED_EGRESS",
  /** More hosts that webhooks may be sent to, separated by commas; `*` allows any public host. */
  "WEBHOOK_HOSTS",
  /** The address from which e-mails are sent, by the binding SEND_EMAIL. */
  "EMAIL_FROM",
  /** The server of Telegram's bots, instead of https://api.telegram.org. */
  "TELEGRAM_API_URL",
  /** The domain of the e-mail addresses of triggers. */
  "EMAIL_DOMAIN",
  /** The place in which code runs: auto, loader, containers, service or off. */
  "CODE",
  /** The URL of the sandbox: a service that speaks the protocol of docs/sandbox.md. */
  "SANDBOX_URL",
  "SANDBOX_KEY",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  /** The URL of an AI Gateway of Cloudflare, through which requests to models of OpenAI, Anthropic and Google are sent. */
  "AI_GATEWAY_URL",
  "OPENAI_MODEL",
  "OLLAMA_HOST",
  /** JSON: prices of models per million tokens, `{ model: { input, output } }`. */
  "MODEL_PRICES",
  /** The currency of these prices, such as EUR (ISO 4217). */
  "CURRENCY",
  /** JSON: static keys, `[{ hash, tenant, scopes, name? }]`. */
  "API_KEYS",
  /** 32 bytes as base64: the key that signs created keys, instead of SECRETS_KEY. */
  "CREATED_KEYS_SECRET",
  /** The secret that signed created keys before it; with it, keys that neither has signed are refused. */
  "CREATED_KEYS_SECRET_PREVIOUS",
  /** Requests without a valid credential that an IP address may send per minute. */
  "REFUSALS_PER_MINUTE",
  /** SHA-256 of the operator's key, hex. */
  "OPERATOR_KEY_HASH",
  /** Settings for checking identity tokens. */
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
  /** The share of traces that is sent, 0 to 1. */
  "OTEL_TRACES_SAMPLER_ARG",
  /** "true" includes the requests to models and their responses. */
  "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
  /** The pages that may call the API from a browser, separated by commas. */
  "ALLOWED_ORIGINS",
  /** The public A2A agent of this host: `tenant/team`. */
  "A2A_TEAM",
  /** Seconds without a task after which a conversation of an A2A caller is erased. */
  "A2A_IDLE_SECONDS",
  /** The private JWK that signs agent cards. */
  "A2A_CARD_KEY",
  /** The templates that clients of MCP may use, by their names separated by commas; `none` for none. */
  "MCP_TEMPLATES",
  /** Vectors of an object of memories above which the binding VECTORIZE is used; at most 50000. */
  "VECTORIZE_ABOVE",
  /** "off" disables the console. */
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
