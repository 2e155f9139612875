import { errorMessage } from "../core/errors.ts";
import type { WebhookResponse } from "./webhooks.ts";

/** The binding `send_email` of a Worker. */
export interface EmailBinding {
  send(message: object): Promise<unknown>;
}

/** An e-mail as RFC 5322 writes it. */
export interface RawMail {
  from: string;
  to: string;
  raw: string;
}

/** Words of the platform for addresses that it does not send to or from. */
const NEVER = /not (a )?verified|not allowed|suppressed|invalid (recipient|sender)/i;

/**
 * Sends an e-mail once. Never rejects.
 *
 * @param binding undefined where there is none
 */
export function emailSender(
  binding: EmailBinding | undefined,
): (mail: RawMail) => Promise<WebhookResponse & { refused?: "receiver" }> {
  return async ({ from, to, raw }) => {
    const started = Date.now();
    const answer = { status: null, error: null, response: null, retryAfter: null };
    try {
      if (binding === undefined) throw new TypeError("the binding SEND_EMAIL is missing");
      const { EmailMessage } = await import("cloudflare:email");
      await binding.send(new EmailMessage(from, to, raw));
      return { ...answer, status: 250, duration: Date.now() - started };
    } catch (error) {
      const message = errorMessage(error);
      return {
        ...answer,
        error: `The e-mail was not sent: ${message}`,
        ...(NEVER.test(message) && { refused: "receiver" }),
        duration: Date.now() - started,
      };
    }
  };
}
