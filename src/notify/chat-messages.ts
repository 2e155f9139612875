import { beginningOf } from "../core/cut.ts";
import type { JsonObject } from "../core/json.ts";
import { entityOf, escapedWithin, oneLine } from "./escaped-text.ts";
import type { Notice, Paragraph } from "./notice.ts";

/** Slack's limits in characters: of a header, of the text of a section, and of the text that notifications show. */
const MOST_HEADER = 150;
const MOST_SECTION = 3_000;
const MOST_FALLBACK = 3_000;

/** A notice as the body of an incoming webhook of Slack. Foreign text makes no mentions, links or formats of blocks. */
export function slackMessage({ title, paragraphs, link }: Notice): JsonObject {
  const header = beginningOf(oneLine(title), MOST_HEADER);
  const blocks: JsonObject[] = [
    { type: "header", text: { type: "plain_text", text: header || "Troupe", emoji: false } },
    ...paragraphs.map(section),
  ];
  if (link !== null) blocks.push(mrkdwn(`<${link}|Answer>`));
  return {
    text: escapedWithin(oneLine(title), MOST_FALLBACK, entityOf),
    blocks,
    unfurl_links: false,
    unfurl_media: false,
  };
}

function section({ label, text, code }: Paragraph): JsonObject {
  const before = label === null ? "" : `*${escapedWithin(oneLine(label), 200, entityOf)}*\n`;
  const [fence, content] = code ? ["```", text.replaceAll("```", "'''")] : ["", text];
  const room = MOST_SECTION - before.length - 2 * fence.length;
  return mrkdwn(`${before}${fence}${escapedWithin(content, room, entityOf)}${fence}`);
}

/** `verbatim` keeps Slack from finding mentions and addresses in the text. */
function mrkdwn(text: string): JsonObject {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

/** Telegram's limit of the text of a message. */
const MOST_TEXT = 4_096;
const MOST_TITLE = 300;

/** A notice as the parameters of `sendMessage`. Telegram makes no link to this machine, so the address is text. */
export function telegramMessage({ title, paragraphs, link }: Notice, chat: string): JsonObject {
  const head = `<b>${escapedWithin(oneLine(title), MOST_TITLE, entityOf)}</b>`;
  const end = link === null ? "" : `\n\nAnswer: ${escapedWithin(link, 1_000, attributeOf)}`;
  let text = head;
  for (const paragraph of paragraphs) {
    const room = MOST_TEXT - text.length - end.length;
    const part = written(paragraph, room);
    if (part === undefined) break;
    text += part;
  }
  return {
    chat_id: chat,
    text: text + end,
    parse_mode: "HTML",
    link_preview_options: { is_disabled: true },
  };
}

/** The paragraph, cut to the room that is left; undefined where that is too little. */
function written({ label, text, code }: Paragraph, room: number): string | undefined {
  const before = label === null ? "\n\n" : `\n\n<i>${escapedWithin(label, 200, entityOf)}</i>\n`;
  const [open, close] = code ? ["<pre>", "</pre>"] : ["", ""];
  const left = room - before.length - open.length - close.length;
  if (left < 20) return undefined;
  return before + open + escapedWithin(text, left, entityOf) + close;
}

function attributeOf(character: string): string {
  return character === '"' ? "&quot;" : entityOf(character);
}

/** The address of a bot's method. It contains the token, so nothing may log it. */
export function telegramUrl(api: string, token: string): string {
  return `${api}/bot${token}/sendMessage`;
}
