import { Webhook } from "standardwebhooks";

/** True if the secret has signed the body as Standard Webhooks defines it. Import this module dynamically, as `tenant/webhooks/signing.ts`. */
export function isStandardSignature(secret: string, headers: Headers, body: string): boolean {
  try {
    new Webhook(secret).verify(body, Object.fromEntries(headers), { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
