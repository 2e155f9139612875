/** A delivery as it is sent. */
export interface SignedRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * Signs a delivery as Standard Webhooks defines it.
 *
 * @param secrets those that are valid; a receiver accepts a delivery that one of its own signed
 * @param now epoch milliseconds of this attempt: receivers refuse old ones
 */
export async function signed(
  { id, url, body }: { id: string; url: string; body: string },
  secrets: readonly string[],
  now: number,
): Promise<SignedRequest> {
  const { Webhook } = await import("standardwebhooks");
  const time = new Date(now);
  return {
    url,
    headers: {
      "content-type": "application/json",
      "user-agent": "Troupe-Webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now / 1000)),
      "webhook-signature": secrets
        .map((secret) => new Webhook(secret).sign(id, time, body))
        .join(" "),
    },
    body,
  };
}
