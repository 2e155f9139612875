/** A header of an e-mail; its name is in lower case. */
export interface MailHeader {
  key: string;
  value: string;
}

/** The server of Cloudflare that receives e-mail. */
const PLATFORM = "mx.cloudflare.net";

interface MethodResult {
  method: string;
  result: string;
  properties: Readonly<Record<string, string>>;
}

/**
 * True unless the platform says that neither SPF nor DKIM vouches for the domain of the sender. Headers below the platform's come with
 * the e-mail and count for nothing.
 *
 * @param headers in their order, the platform's before those that came with the e-mail
 * @param from the address in `From`
 * @param envelope the address of the SMTP envelope
 */
export function isAuthentic(
  headers: readonly MailHeader[],
  from: string,
  envelope: string,
): boolean {
  const given = headers.filter(({ key }) => key === "authentication-results");
  const ofPlatform = given.find(({ value }) => value.trim().toLowerCase().startsWith(PLATFORM));
  const header = ofPlatform ?? given[0];
  // The platform refuses by itself what neither of them vouches for; without its header nothing is known to have failed.
  if (header === undefined) return true;
  const results = resultsOf(header.value);
  const dmarc = results.find(({ method }) => method === "dmarc")?.result;
  if (dmarc === "pass" || dmarc === "fail") return dmarc === "pass";
  const domain = domainOf(from);
  return results.some(({ method, result, properties }) => {
    if (result !== "pass") return false;
    if (method === "spf") return vouches(properties["smtp.mailfrom"] ?? envelope, domain);
    return (
      method === "dkim" && vouches(properties["header.d"] ?? properties["header.i"] ?? from, domain)
    );
  });
}

/** Reads `Authentication-Results` (RFC 8601), without its comments. */
function resultsOf(value: string): MethodResult[] {
  const [, ...parts] = value
    .replaceAll(/\([^()]*\)/g, " ")
    .toLowerCase()
    .split(";");
  return parts.map((part) => {
    const pairs = part
      .split(/\s+/)
      .filter((pair) => pair.includes("="))
      .map((pair) => {
        const at = pair.indexOf("=");
        return [pair.slice(0, at), pair.slice(at + 1).replaceAll('"', "")] as const;
      });
    const [[method, result] = ["", ""], ...properties] = pairs;
    return { method, result, properties: Object.fromEntries(properties) };
  });
}

/** True if a domain is that of the sender, or one is below the other. */
function vouches(address: string, domain: string): boolean {
  const other = domainOf(address);
  if (other === "" || domain === "") return false;
  return other === domain || other.endsWith(`.${domain}`) || domain.endsWith(`.${other}`);
}

/** The domain of an address, or of a domain. */
function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}

/**
 * True for e-mails that programs have written: answers in absence, reports, newsletters. Two programs could answer each other without an end.
 *
 * @param envelope the address of the SMTP envelope, which reports leave empty
 */
export function isAutomatic(headers: readonly MailHeader[], envelope: string): boolean {
  if (/^(<>)?$/.test(envelope.trim())) return true;
  return headers.some(({ key, value }) => {
    const text = value.trim().toLowerCase();
    if (key === "auto-submitted") return !/^no\b/.test(text);
    if (key === "precedence") return /^(bulk|junk|list|auto_reply)$/.test(text);
    if (key === "return-path") return text === "<>";
    if (key === "content-type") return text.startsWith("multipart/report");
    return key.startsWith("list-") || AUTOMATIC.has(key);
  });
}

const AUTOMATIC: ReadonlySet<string> = new Set([
  "x-autoreply",
  "x-autorespond",
  "x-auto-response-suppress",
  "x-failed-recipients",
]);
