import { credentialSources } from "../api/auth/authenticate.ts";
import { MONEY_LIMITS, tenantLimitsFrom } from "../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../contract/tenant/tenant.ts";
import { ModelPrices } from "../contract/usage/model-prices.ts";
import { nearMatches } from "../core/options/near-matches.ts";
import { errorMessage, ValueError } from "../core/errors.ts";
import { allowedOrigins } from "../api/http/access/cors.ts";
import { limitsFrom } from "../api/http/endpoint/limits.ts";
import { baseUrlOf } from "../components/models/ollama/host.ts";
import { egressRules } from "../outgoing/egress.ts";
import { vectorizeAbove } from "../memory/vectors/vector-service.ts";
import { webhookRules } from "../outgoing/webhooks.ts";
import { a2aSettings } from "../api/protocols/a2a/card/settings.ts";
import { type SandboxSettings, sandboxAddress } from "../components/sandbox/settings.ts";
import { SETTING_NAMES, type SettingName } from "./settings.ts";
import { otlpSettings } from "../telemetry/otlp/settings.ts";

/** The settings of a Worker, with the bindings that replace a setting. */
export type SettingValues = { readonly [Name in SettingName]?: string } & Pick<
  SandboxSettings,
  "SANDBOX"
>;

/**
 * Reads all settings, also those that only a request or an object uses. SECRETS_KEY is the exception: teams without secrets
 * run without it.
 *
 * @throws ValueError naming the invalid setting and the allowed values
 */
export function parseSettings(settings: SettingValues) {
  for (const [name, allowed] of Object.entries(SWITCHES)) {
    requireOneOf(name, settings[name as keyof typeof SWITCHES], allowed);
  }
  requireHttp("OPENAI_BASE_URL", settings.OPENAI_BASE_URL);
  requireOllama(settings.OLLAMA_HOST);
  // Objects and requests read these themselves.
  otlpSettings(settings);
  credentialSources(settings, fetch, {});
  vectorizeAbove(settings.VECTORIZE_ABOVE);
  const egress = egressRules(settings);
  const tenantLimits = tenantLimitsFrom(settings);
  const prices = ModelPrices.parse(settings.MODEL_PRICES);
  requirePrices(tenantLimits, prices);
  return {
    limits: limitsFrom(settings),
    tenantLimits,
    prices,
    currency: currencyOf(settings.CURRENCY),
    egress,
    publicUrl: publicUrlOf(settings.PUBLIC_URL),
    webhooks: webhookRules(settings),
    sandbox: sandboxAddress(settings, egress),
    origins: allowedOrigins(settings.ALLOWED_ORIGINS),
    a2a: a2aSettings(settings),
  };
}

/** The developer's text for an error of {@link parseSettings}. */
export function settingsRefusal(error: unknown): string {
  return `A setting of this server is invalid: ${errorMessage(error).replace(/\.?$/, ".")}`;
}

/** Sentences about variables that are named like a tenant's limits and are not one, so that the limit does not hold. */
export function unknownLimits(env: object): string[] {
  const limits = SETTING_NAMES.filter((name) => name.startsWith("TENANT_"));
  return Object.entries(env)
    .filter(
      ([name, value]) => name.startsWith("TENANT_") && typeof value === "string" && value !== "",
    )
    .filter(([name]) => !limits.some((limit) => limit === name))
    .map(([name]) => {
      const [nearest] = nearMatches(name, limits);
      const known =
        nearest === undefined ? `The limits are ${limits.join(", ")}.` : `Did you mean ${nearest}?`;
      return `${name} is not a setting and has no effect. ${known}`;
    });
}

/** The values of settings with few values. All of them may be unset. */
const SWITCHES = { TROUPE_OPEN: ["1", "0"], CONSOLE: ["off", "on"] };

function requireOneOf(name: string, value: string | undefined, allowed: readonly string[]): void {
  if (value === undefined || value === "" || allowed.includes(value)) return;
  throw new ValueError(`${name} is ${JSON.stringify(value)}: it must be ${allowed.join(" or ")}`);
}

/** @throws ValueError for a budget in money where no cost is known */
function requirePrices(limits: TenantLimits, { empty }: ModelPrices): void {
  const budget = MONEY_LIMITS.find((name) => limits[name] !== null);
  if (!empty || budget === undefined) return;
  throw new ValueError(
    `TENANT_${budget.toUpperCase()} needs the setting MODEL_PRICES: without prices no cost is known`,
  );
}

function currencyOf(value: string | undefined): string | null {
  if (value === undefined || value === "") return null;
  if (/^[A-Z]{3}$/.test(value)) return value;
  throw new ValueError(
    `CURRENCY is ${JSON.stringify(value)}: it must be a code of ISO 4217 in capitals, such as EUR`,
  );
}

/** The address at which browsers reach the service; undefined if it is not set. @throws ValueError */
function publicUrlOf(value: string | undefined): string | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url !== undefined && url.search === "" && url.hash === "" && url.username === "";
  if (!plain || !/^https?:$/.test(url.protocol)) {
    throw new ValueError(
      `PUBLIC_URL is ${JSON.stringify(value)}: it must be the https:// address of this service, such as https://troupe.example.com or https://example.com/agents`,
    );
  }
  return url.origin + url.pathname.replace(/\/$/, "");
}

function requireHttp(name: string, value: string | undefined): void {
  if (value === undefined || value.trim() === "") return;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return;
  // The message leaves out the value, which may contain credentials.
  throw new ValueError(`${name} must be an http:// or https:// URL`);
}

function requireOllama(value: string | undefined): void {
  if (value === undefined || value.trim() === "") return;
  try {
    baseUrlOf(value);
  } catch {
    // The message leaves out the value, which may contain credentials.
    throw new ValueError(
      "OLLAMA_HOST must be a host name with an optional port, or an http:// or https:// URL without user and password",
    );
  }
}
