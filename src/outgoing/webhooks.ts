import { errorMessage } from "../core/errors.ts";
import { isSecretName } from "../secrets/secret-fields.ts";
import type { Settings } from "../secrets/secret-hosts.ts";
import {
  checkEgress,
  EgressError,
  type EgressRules,
  egressRules,
  hostEntries,
  namesExactly,
} from "./egress.ts";
import { webhookUrlSecrets } from "../secrets/webhook-url.ts";
import { Redaction } from "../secrets/redaction.ts";
import { retryAfter } from "./retry-after.ts";

/** The time limit of an attempt. */
const TIMEOUT_MS = 10_000;
/** The longest excerpt of an answer that the sender gets. */
const MOST_RESPONSE_BYTES = 4_096;

const ANYWHERE = "*";

/** A signed delivery. */
export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** More parts of the request that nothing may show. */
  secrets?: readonly string[];
  /** True if the body of a good answer is wanted, too. */
  reads?: boolean;
}

/** The outcome of an attempt to deliver. */
export interface WebhookResponse {
  /** Null: there was no answer. */
  status: number | null;
  /** Why there was none. */
  error: string | null;
  /** The first 4 KB of an answer other than 2xx. */
  response: string | null;
  /** Milliseconds that the receiver asked to wait. */
  retryAfter: number | null;
  /** Milliseconds. */
  duration: number;
}

/**
 * The allowed receivers of webhooks: the hosts of WEBHOOK_HOSTS and ALLOWED_EGRESS; any public host when WEBHOOK_HOSTS is
 * `*` or neither is set.
 */
export function webhookRules(settings: Settings): EgressRules {
  const { open, exact = [] } = egressRules(settings);
  const own = hostEntries("WEBHOOK_HOSTS", settings["WEBHOOK_HOSTS"], ANYWHERE);
  const entries = [...own, ...hostEntries("ALLOWED_EGRESS", settings["ALLOWED_EGRESS"])];
  const anywhere = own.includes(ANYWHERE) || entries.length === 0;
  return { allowed: anywhere ? null : entries, open, exact, setting: "WEBHOOK_HOSTS" };
}

/** @throws EgressError saying why no webhook may go there */
export function checkWebhookUrl(url: string, rules: EgressRules): void {
  const target = new URL(url);
  if (!rules.open && target.protocol !== "https:" && !namesExactly(rules, target)) {
    throw new EgressError(target.hostname, "Webhooks are sent over https:// only.");
  }
  checkEgress(url, rules);
}

/**
 * Sends a delivery once. Never throws: an attempt that failed is a response, too.
 *
 * @param send a guarded fetch with the same rules
 */
export function webhookSender(
  rules: EgressRules,
  send: typeof fetch,
): (request: WebhookRequest) => Promise<WebhookResponse> {
  return async ({ url, headers, body, secrets: more = [], reads = false }) => {
    const started = Date.now();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const secrets = secretsIn({ url, headers });
    for (const secret of more) secrets.remember(secret);
    const answer = { status: null, error: null, response: null, retryAfter: null };
    try {
      checkWebhookUrl(url, rules);
      const received = await send(url, { method: "POST", headers, body, signal });
      const wait = retryAfter(received.headers);
      return {
        ...answer,
        status: received.status,
        response:
          received.ok && !reads ? await drop(received) : secrets.redact(await excerpt(received)),
        retryAfter: wait ?? null,
        duration: Date.now() - started,
      };
    } catch (error) {
      return {
        ...answer,
        error: secrets.redact(reason(error, signal)),
        duration: Date.now() - started,
      };
    }
  };
}

/** The parts of a request that a receiver might echo and that stay secret: the secrets of its URL and of its headers. */
function secretsIn({ url, headers }: Pick<WebhookRequest, "url" | "headers">): Redaction {
  const secrets = new Redaction();
  for (const secret of webhookUrlSecrets(url)) secrets.remember(secret);
  for (const [name, value] of Object.entries(headers)) {
    if (isSecretName(name)) secrets.remember(value);
  }
  return secrets;
}

function reason(error: unknown, signal: AbortSignal): string {
  if (error instanceof EgressError) return error.message;
  if (signal.aborted) return `There was no answer within ${TIMEOUT_MS / 1000} seconds.`;
  return `The receiver cannot be reached: ${errorMessage(error)}`;
}

async function drop({ body }: Response): Promise<null> {
  await body?.cancel().catch(() => undefined);
  return null;
}

/** The part of the body that arrives while the attempt lasts. */
async function excerpt({ body }: Response): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < MOST_RESPONSE_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, MOST_RESPONSE_BYTES - bytes), { stream: true });
      bytes += value.byteLength;
    }
  } catch {
    // The connection broke or the time is over: what arrived is enough.
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return text;
}
