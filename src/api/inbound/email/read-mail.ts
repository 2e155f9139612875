import PostalMime, { type Address, type Attachment } from "postal-mime";
import { toBase64 } from "../../../core/base64.ts";
import { beginningOf } from "../../../core/cut.ts";
import type { JsonObject } from "../../../core/json.ts";
import { partOfFile } from "../../http/input/file-parts.ts";
import type { MailHeader } from "./authenticity.ts";

/** Characters of the text of an e-mail, and of its HTML, that a payload has. */
const LONGEST_TEXT = 100_000;
const MOST_ATTACHMENTS = 20;
const MOST_ADDRESSES = 50;
const MOST_REFERENCES = 50;

/** An e-mail as it was read. */
export interface ReadMail {
  headers: readonly MailHeader[];
  /** The address in `From`; empty if there is not exactly one. */
  from: string;
  /** With its brackets; undefined if it is missing. */
  messageId: string | undefined;
  subject: string;
  references: readonly string[];
  /** The values of templates and filters. */
  payload: JsonObject;
  /** The attachments that messages can have, as parts of one. */
  files: readonly JsonObject[];
}

/** @param mostFileBytes all attachments that become files @throws an error for what is not an e-mail */
export async function readMail(
  raw: ArrayBuffer,
  { mostFileBytes }: { mostFileBytes: number },
): Promise<ReadMail> {
  const mail = await PostalMime.parse(raw, { maxNestingDepth: 20, maxHeadersSize: 200_000 });
  const senders = mail.headers.filter(({ key }) => key === "from");
  const from = senders.length === 1 ? (mail.from?.address ?? "") : "";
  const references = idsIn(mail.references ?? "");
  const [messageId] = idsIn(mail.messageId ?? "");
  const [repliesTo] = idsIn(mail.inReplyTo ?? "");
  const attachments = mail.attachments.slice(0, MOST_ATTACHMENTS);
  const subject = beginningOf(mail.subject ?? "", 1_000);
  return {
    headers: mail.headers,
    from,
    messageId,
    subject,
    references,
    files: filesOf(attachments, mostFileBytes),
    payload: {
      from: { address: from, name: beginningOf(mail.from?.name ?? "", 300) },
      to: addressesOf(mail.to),
      cc: addressesOf(mail.cc),
      subject,
      text: beginningOf(mail.text ?? "", LONGEST_TEXT).trimEnd(),
      html: beginningOf(mail.html ?? "", LONGEST_TEXT),
      date: mail.date ?? null,
      message_id: messageId ?? null,
      in_reply_to: repliesTo ?? null,
      references: [...references],
      // The first e-mail of the thread, by which its answers are known.
      thread: references[0] ?? repliesTo ?? messageId ?? null,
      attachments: attachments.map(({ filename, mimeType, content }) => ({
        name: beginningOf(filename ?? "", 255),
        media_type: mimeType,
        bytes: bytesOf(content).length,
      })),
    },
  };
}

function addressesOf(given: readonly Address[] = []): string[] {
  return given
    .flatMap(({ address, group = [] }) => [address, ...group.map((one) => one.address)])
    .filter((address): address is string => address !== undefined && address !== "")
    .slice(0, MOST_ADDRESSES);
}

/** The ids of messages in a header. */
function idsIn(header: string): string[] {
  return Array.from(header.matchAll(/<[^<>\s]{1,250}>/g), ([id]) => id).slice(-MOST_REFERENCES);
}

function filesOf(attachments: readonly Attachment[], mostBytes: number): JsonObject[] {
  let left = mostBytes;
  return attachments.flatMap(({ filename, mimeType, content }) => {
    const bytes = bytesOf(content);
    if (bytes.length > left) return [];
    const name = filename ?? "attachment";
    const part = partOfFile({ data: toBase64(bytes), name, mediaType: mimeType });
    // A program, an archive: the payload names it.
    if (typeof part === "string") return [];
    left -= bytes.length;
    return [part];
  });
}

function bytesOf(content: Attachment["content"]): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
}
