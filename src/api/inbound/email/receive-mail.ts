import type { MailThread, StoredReceiver } from "../../../contract/notify.ts";
import { isHashOfTenant } from "../../../contract/team/mailbox.ts";
import { isTenantId } from "../../auth/principal.ts";
import type { TriggerPlace } from "../../http/access/trigger-keys.ts";
import { ProblemError } from "../../http/endpoint/problem.ts";
import { type Services, tenantsOf } from "../../http/endpoint/services.ts";
import { deliver, type InboundEvent } from "../deliver.ts";
import { shortId } from "../payload.ts";
import { isAuthentic, isAutomatic } from "./authenticity.ts";
import { type ReadMail, readMail } from "./read-mail.ts";

/** The most bytes of an e-mail. */
const MOST_BYTES = 10_000_000;

/** An e-mail as Cloudflare hands it to a Worker. */
export interface IncomingEmail {
  /** The addresses of the SMTP envelope. */
  readonly from: string;
  readonly to: string;
  readonly raw: ReadableStream<Uint8Array>;
  readonly rawSize: number;
  setReject: (reason: string) => void;
}

/** The one answer to an address that is not a trigger's. */
const UNKNOWN = "There is no such address.";

/**
 * Starts the run of an e-mail to the address of a trigger. What is not believed or not wanted is rejected with a reason, which its sender
 * gets.
 *
 * @throws where the e-mail should be delivered again later
 */
export async function receiveMail(message: IncomingEmail, services: Services): Promise<void> {
  const place = await placeOf(message.to, services);
  if (place === undefined) return message.setReject(UNKNOWN);
  if (message.rawSize > MOST_BYTES) {
    return message.setReject(`An e-mail can have at most ${MOST_BYTES} bytes.`);
  }
  let mail: ReadMail;
  try {
    const raw = await new Response(message.raw).arrayBuffer();
    mail = await readMail(raw, { mostFileBytes: services.limits.max_message_files_bytes / 2 });
  } catch {
    return message.setReject("The e-mail cannot be read.");
  }
  const event = await eventOf(mail, message);
  try {
    const delivered = await deliver(place, event, services).catch((error: unknown) => {
      // An attachment that the team's models cannot read is left to the payload, which names it.
      if (!isInvalid(error) || mail.files.length === 0) throw error;
      return deliver(place, { ...event, files: [] }, services);
    });
    if (delivered === undefined) message.setReject(UNKNOWN);
    else if (delivered.delivery.status === "refused") {
      message.setReject("The sender of the e-mail is not authenticated by SPF or DKIM.");
    }
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status >= 429) throw error;
    message.setReject(error.problem.detail);
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof ProblemError && error.problem.status === 422;
}

/** The trigger of an address; undefined if there is none. */
async function placeOf(to: string, services: Services): Promise<TriggerPlace | undefined> {
  const address = to.trim().toLowerCase();
  const at = address.lastIndexOf("@");
  if (address.slice(at + 1) !== services.emailDomain) return undefined;
  const mailbox = address.slice(0, Math.max(at, 0));
  const [name = ""] = mailbox.split("+", 1);
  const tenants = tenantsOf(services);
  const tenant = isHashOfTenant(name) ? await tenants.ofHash(name) : name;
  if (tenant === null || !isTenantId(tenant)) return undefined;
  const found = await tenants.tenant(tenant).triggerOfMailbox(mailbox);
  return found === null ? undefined : { tenant, ...found };
}

async function eventOf(mail: ReadMail, message: IncomingEmail): Promise<InboundEvent> {
  const { headers, from, messageId, subject, references, payload, files } = mail;
  const event = {
    payload: { ...payload, envelope_from: message.from },
    delivery: messageId === undefined ? undefined : await shortId(messageId),
    name: undefined,
    files,
    ...(messageId !== undefined && {
      answerTo: sender(from, {
        subject,
        message_id: messageId,
        references,
        from: message.to.trim().toLowerCase(),
      }),
    }),
  };
  if (isAutomatic(headers, message.from)) return { ...event, skipped: "automatic_message" };
  if (from === "" || !isAuthentic(headers, from, message.from)) {
    return { ...event, refused: "sender_not_authentic" };
  }
  return event;
}

/** The sender of an e-mail, who gets the answer of the run in the thread. */
function sender(to: string, thread: MailThread): StoredReceiver {
  return {
    shown: { id: "sender", kind: "email", to, on: ["run.completed"] },
    secret: null,
    thread,
    // Its messages carry no links: a stranger answers no questions of a run.
    origin: {
      base_url: "",
      creation: "",
      made_by: "e-mail",
      maker: "e-mail",
      ends_with: null,
      life: 0,
      until: null,
      answers: false,
    },
  };
}
