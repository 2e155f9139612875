import { toBase64 } from "../core/base64.ts";
import { beginningOf } from "../core/cut.ts";
import type { MailThread } from "../contract/notify.ts";
import { escapedWithin, oneLine } from "./escaped-text.ts";
import type { Notice } from "./notice.ts";

/** An e-mail as the binding takes it. */
export interface Mail {
  from: string;
  to: string;
  /** RFC 5322, in ASCII. */
  raw: string;
}

export interface MailFacts {
  from: string;
  to: string;
  /** The id of the delivery: mail programs show a message that comes twice once. */
  id: string;
  thread?: MailThread | undefined;
  /** When the delivery was made, epoch milliseconds: the same in each attempt. */
  at: number;
}

const MOST_SUBJECT = 200;
const MOST_BODY = 100_000;
/** Bytes of a word in a header, so that its line stays below 78 characters. */
const MOST_WORD = 39;

const encoder = new TextEncoder();

/** A notice as an e-mail in plain text and HTML. */
export function emailMessage(notice: Notice, { from, to, id, thread, at }: MailFacts): Mail {
  const domain = from.slice(from.lastIndexOf("@") + 1);
  const boundary = `troupe-${id}`;
  const subject = thread ? `Re: ${thread.subject.replace(/^\s*(re:\s*)+/i, "")}` : notice.title;
  const raw = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${headerText(beginningOf(oneLine(subject), MOST_SUBJECT))}`,
    `Date: ${new Date(at).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${id}@${domain}>`,
    ...(thread ? threadHeaders(thread) : []),
    `Auto-Submitted: ${thread ? "auto-replied" : "auto-generated"}`,
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    "",
    `--${boundary}`,
    ...part("text/plain", plainText(notice, thread !== undefined)),
    `--${boundary}`,
    ...part("text/html", html(notice, thread !== undefined)),
    `--${boundary}--`,
    "",
  ].join("\r\n");
  return { from, to, raw };
}

/** Ids of messages come from foreign e-mails. */
const MESSAGE_ID = /^<[\x21-\x3b\x3d\x3f-\x7e]{1,250}>$/;

function threadHeaders({ message_id, references }: MailThread): string[] {
  if (!MESSAGE_ID.test(message_id)) return [];
  const known = references.filter((one) => MESSAGE_ID.test(one) && one !== message_id).slice(-20);
  return [`In-Reply-To: ${message_id}`, `References: ${[...known, message_id].join("\r\n ")}`];
}

function part(type: string, text: string): string[] {
  return [
    `Content-Type: ${type}; charset=utf-8`,
    "Content-Transfer-Encoding: base64",
    "",
    base64Lines(encoder.encode(text)),
    "",
  ];
}

function base64Lines(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll(/.{76}/g, "$&\r\n").trimEnd();
}

/** A text in a header (RFC 2047), folded into words of whole characters. */
function headerText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && text.length <= 60) return text;
  const words: Uint8Array[] = [];
  let word: number[] = [];
  for (const character of text) {
    const bytes = encoder.encode(character);
    if (word.length + bytes.length > MOST_WORD) {
      words.push(Uint8Array.from(word));
      word = [];
    }
    word.push(...bytes);
  }
  words.push(Uint8Array.from(word));
  return words.map((bytes) => `=?utf-8?B?${toBase64(bytes)}?=`).join("\r\n ");
}

/** An answer in a thread has the words of the answer alone. */
function shownParagraphs({ paragraphs }: Notice, isAnswer: boolean): Notice["paragraphs"] {
  if (!isAnswer) return paragraphs;
  const answers = paragraphs.filter(({ label }) => label === "Answer");
  return answers.length > 0 ? answers.map(({ text }) => ({ label: null, text })) : paragraphs;
}

function plainText(notice: Notice, isAnswer: boolean): string {
  const paragraphs = shownParagraphs(notice, isAnswer).map(({ label, text }) =>
    label === null ? text : `${label}:\n${text}`,
  );
  const end = notice.link === null ? [] : [`Answer: ${notice.link}`];
  const head = isAnswer ? [] : [notice.title];
  return (
    beginningOf([...head, ...paragraphs].join("\n\n"), MOST_BODY) +
    end.map((one) => `\n\n${one}`).join("")
  );
}

function html(notice: Notice, isAnswer: boolean): string {
  const paragraphs = shownParagraphs(notice, isAnswer).map(({ label, text, code }) => {
    const content = escaped(beginningOf(text, MOST_BODY));
    const before = label === null ? "" : `<b>${escaped(label)}</b><br>`;
    return code
      ? `<p>${before}</p><pre style="white-space:pre-wrap">${content}</pre>`
      : `<p>${before}${content.replaceAll(/\r?\n/g, "<br>")}</p>`;
  });
  const head = isAnswer ? "" : `<h1 style="font-size:1.2em">${escaped(notice.title)}</h1>`;
  const { link } = notice;
  const end =
    link === null ? "" : `<p><a href="${escaped(link)}">Answer</a><br>${escaped(link)}</p>`;
  return `<!doctype html><html><body>${head}${paragraphs.join("")}${end}</body></html>`;
}

function escaped(text: string): string {
  return escapedWithin(text, Number.MAX_SAFE_INTEGER, (character) =>
    /[&<>"']/.test(character) ? `&#${character.charCodeAt(0)};` : character,
  );
}
