import { credentialSources } from "./auth/authenticate.ts";
import { tenantLimitsFrom } from "./contract/tenant-limits.ts";
import { ModelPrices } from "./contract/usage/model-prices.ts";
import { errorMessage, ValueError } from "./core/errors.ts";
import { allowedOrigins } from "./http/access/cors.ts";
import { limitsFrom } from "./http/limits.ts";
import { baseUrlOf } from "./models/ollama/host.ts";
import { egressRules } from "./outgoing/egress.ts";
import { webhookRules } from "./outgoing/webhooks.ts";
import { a2aSettings } from "./protocols/a2a/settings.ts";
import { type SandboxSettings, sandboxAddress } from "./sandbox/settings.ts";
import type { SettingName } from "./settings.ts";
import { otlpSettings } from "./telemetry/otlp/settings.ts";

/** The settings of a Worker, with the bindings that stand for one. */
export type SettingValues = { readonly [Name in SettingName]?: string } & Pick<
  SandboxSettings,
  "SANDBOX"
>;

/**
 * Reads all settings, also those that only a request or an object would read; but SECRETS_KEY, without which teams that have no
 * secrets run.
 *
 * @throws ValueError naming the setting that is wrong, and what is allowed
 */
export function parseSettings(settings: SettingValues) {
  for (const [name, allowed] of Object.entries(SWITCHES)) {
    requireOneOf(name, settings[name as keyof typeof SWITCHES], allowed);
  }
  requireHttp("OPENAI_BASE_URL", settings.OPENAI_BASE_URL);
  requireOllama(settings.OLLAMA_HOST);
  // Objects and requests read these themselves.
  otlpSettings(settings);
  credentialSources(settings, fetch, undefined);
  return {
    limits: limitsFrom(settings),
    tenantLimits: tenantLimitsFrom(settings),
    prices: ModelPrices.parse(settings.MODEL_PRICES),
    egress: egressRules(settings),
    webhooks: webhookRules(settings),
    sandbox: sandboxAddress(settings, settings.TROUPE_OPEN === "1"),
    origins: allowedOrigins(settings.ALLOWED_ORIGINS),
    a2a: a2aSettings(settings),
  };
}

/** What a developer reads of an error of {@link parseSettings}. */
export function settingsRefusal(error: unknown): string {
  return `A setting of this server is wrong: ${errorMessage(error).replace(/\.?$/, ".")}`;
}

/** What settings with few values take, besides nothing at all. */
const SWITCHES = { TROUPE_OPEN: ["1", "0"], CONSOLE: ["off", "on"] };

function requireOneOf(name: string, value: string | undefined, allowed: readonly string[]): void {
  if (value === undefined || value === "" || allowed.includes(value)) return;
  throw new ValueError(`${name} is ${JSON.stringify(value)}: it must be ${allowed.join(" or ")}`);
}

function requireHttp(name: string, value: string | undefined): void {
  if (value === undefined || value.trim() === "") return;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return;
  // Without the value, which may hold credentials.
  throw new ValueError(`${name} must be an http:// or https:// URL`);
}

function requireOllama(value: string | undefined): void {
  if (value === undefined || value.trim() === "") return;
  try {
    baseUrlOf(value);
  } catch {
    // Without the value, which may hold credentials.
    throw new ValueError(
      "OLLAMA_HOST must be a host name with an optional port, or an http:// or https:// URL without user and password",
    );
  }
}
