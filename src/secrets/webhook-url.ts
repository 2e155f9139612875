import { REDACTED } from "./redacted-secrets.ts";
import { mapUrlSecrets } from "./url-secrets.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The length of a random text among readable ones, in characters. */
const SHORTEST_RANDOM = 12;

/** A webhook's URL for showing: without the values of its query, and without what looks random in its path. */
export function shownWebhookUrl(url: string): string {
  return mapWebhookSecrets(url, () => REDACTED);
}

/** The secrets in a webhook's URL. */
export function webhookUrlSecrets(url: string): string[] {
  const secrets: string[] = [];
  mapWebhookSecrets(url, (secret) => {
    secrets.push(secret);
    return secret;
  });
  return secrets;
}

/**
 * The URL that a request gives, which may be the stored one as it was shown.
 *
 * @returns undefined when its secrets are redacted, and it is not the stored one
 */
export function givenWebhookUrl(input: string, stored: string | undefined): string | undefined {
  if (!input.includes(REDACTED)) return input;
  return stored !== undefined && input === shownWebhookUrl(stored) ? stored : undefined;
}

function mapWebhookSecrets(url: string, replace: (secret: string) => string): string {
  const [, start = "", path = "", rest = ""] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(\/[^?#]*)?([?#].*)?$/is.exec(url) ?? [];
  const segments = path.split("/").map((one) => (isRandom(one) ? replace(one) : one));
  return mapUrlSecrets(start + segments.join("/") + rest, (_part, value) => replace(value));
}

/** Services such as Slack, Discord or n8n have the secret in the path. */
function isRandom(segment: string): boolean {
  if (UUID.test(segment)) return true;
  return segment
    .split(/[-_.:~]/)
    .some(
      (part) =>
        part.length >= SHORTEST_RANDOM &&
        ((/[0-9]/.test(part) && /[A-Za-z]/.test(part)) || /[a-z][A-Z]+[a-z]+[A-Z]/.test(part)),
    );
}
