import { credentialSources } from "../api/auth/authenticate.ts";
import { CODE_PLACES, type CodePlace } from "../contract/code-place.ts";
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
import { mcpSettings } from "../api/protocols/mcp/tools/offered-templates.ts";
import { type SandboxSettings, sandboxAddress } from "../components/sandbox/settings.ts";
import { SETTING_NAMES, type SettingName } from "./settings.ts";
import { TELEGRAM_API } from "../notify/telegram-api.ts";
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
  codeWord(settings.CODE);
  requireHttp("OPENAI_BASE_URL", settings.OPENAI_BASE_URL);
  requireHttp("AI_GATEWAY_URL", settings.AI_GATEWAY_URL);
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
    emailDomain: emailDomainOf(settings.EMAIL_DOMAIN),
    webhooks: webhookRules(settings),
    emailFrom: emailFromOf(settings.EMAIL_FROM),
    telegramApi: telegramApiOf(settings.TELEGRAM_API_URL),
    sandbox: sandboxAddress(settings, egress),
    origins: allowedOrigins(settings.ALLOWED_ORIGINS),
    a2a: a2aSettings(settings),
    mcp: mcpSettings(settings),
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

/** The value of the setting CODE. @throws ValueError for another word */
export function codeWord(value: string | undefined): CodePlace | "auto" {
  const words = ["auto", ...CODE_PLACES] as const;
  const word = words.find((known) => known === (value?.trim() || "auto"));
  if (word !== undefined) return word;
  const [last, ...others] = words.toReversed();
  throw new ValueError(
    `CODE is ${JSON.stringify(value)}: it must be ${others.toReversed().join(", ")} or ${last}`,
  );
}

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

/** @throws ValueError */
function emailFromOf(value: string | undefined): string | undefined {
  if (value === undefined || value.trim() === "") return undefined;
  const address = value.trim();
  if (address.length <= 254 && /^[^\s<>@"(),:;\\[\]\u0080-\uffff]+@[A-Za-z0-9.-]+$/.test(address))
    return address;
  throw new ValueError(
    `EMAIL_FROM is ${JSON.stringify(value)}: it must be an e-mail address without a name, such as troupe@example.com`,
  );
}

/** @throws ValueError */
function telegramApiOf(value: string | undefined): string {
  requireHttp("TELEGRAM_API_URL", value);
  return value?.trim().replace(/\/$/, "") || TELEGRAM_API;
}

/** The domain of the e-mail addresses of triggers; undefined if it is not set. @throws ValueError */
function emailDomainOf(value: string | undefined): string | undefined {
  const domain = value?.trim().toLowerCase() ?? "";
  if (domain === "") return undefined;
  if (domain.length <= 253 && /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/.test(domain)) return domain;
  throw new ValueError(
    `EMAIL_DOMAIN is ${JSON.stringify(value)}: it must be a domain whose e-mail reaches this Worker, such as in.example.com`,
  );
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
