import { Webhook } from "standardwebhooks";
import { contextHeaders } from "../../core/steps/hops.ts";
import type { TraceContext } from "../../core/steps/step-attempt.ts";

/** A delivery as it is sent. */
export interface SignedRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** More parts of the request that nothing may show. */
  secrets?: readonly string[];
  /** True if the body of a good answer is wanted, too. */
  reads?: boolean;
}

/** A delivery before it is signed. */
export interface Unsigned {
  id: string;
  url: string;
  body: string;
  /** Default: application/json. */
  contentType?: string;
  /** More headers, with names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Connects the receiver with the run's trace. */
  trace?: TraceContext | undefined;
  hops?: number | undefined;
}

/**
 * Signs a delivery as Standard Webhooks defines it. Import this module dynamically, and not the package itself, which
 * is CommonJS: esbuild gives `await import()` of such a package only its default export when it splits the bundle.
 *
 * @param secrets the valid secrets; a receiver accepts a delivery that its own secret signed
 * @param now epoch milliseconds of this attempt: receivers refuse old ones
 */
export function signed(
  { id, url, body, contentType = "application/json", headers, trace, hops }: Unsigned,
  secrets: readonly string[],
  now: number,
): SignedRequest {
  const time = new Date(now);
  return {
    url,
    headers: {
      ...headers,
      "content-type": contentType,
      "user-agent": "Troupe-Webhooks",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now / 1000)),
      "webhook-signature": secrets
        .map((secret) => new Webhook(secret).sign(id, time, body))
        .join(" "),
      ...contextHeaders({ trace, hops }),
    },
    body,
  };
}
