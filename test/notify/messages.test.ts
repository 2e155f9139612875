import { expect, test } from "vitest";
import { emailMessage } from "#notify/email-message.ts";
import { mayAnswerByLink } from "#notify/linkable.ts";
import { noticeOf } from "#notify/notice.ts";
import { slackMessage, telegramMessage } from "#notify/chat-messages.ts";
import { verdictOf } from "#notify/verdict.ts";

const LINK = "https://troupe.example.com/v1/answer?ticket=a.b";

const question = (fields: object = {}): string =>
  JSON.stringify({
    type: "request.created",
    timestamp: "2026-11-29T00:00:00.000Z",
    data: {
      id: "r",
      kind: "approval",
      source: "clerk",
      prompt: "May I pay?",
      tool_call: { name: "pay", arguments: { to: "<b>&", amount: 5 } },
      team_id: "desk",
      team_label: "Büro",
      task: "Pay.",
      expires_at: null,
      ...fields,
    },
  });

function decoded(raw: string, type: string): string {
  const part = raw
    .split(/--troupe-[^\r]*\r\n/)
    .find((one) => one.includes(`Content-Type: ${type};`));
  const [, body = ""] = part?.split("\r\n\r\n") ?? [];
  return Buffer.from(body, "base64").toString();
}

test("a call to be approved is shown with its arguments, escaped as each format demands", () => {
  const notice = noticeOf(question(), LINK);
  expect(notice.title).toBe("Büro: clerk asks for an approval");
  const slack = JSON.stringify(slackMessage(notice));
  expect(slack).toContain("&lt;b&gt;&amp;");
  expect(slack).toContain(`<${LINK}|Answer>`);
  const telegram = telegramMessage(notice, "1").text as string;
  expect(telegram).toContain('<pre>{\n  "to": "&lt;b&gt;&amp;"');
  expect(telegram.endsWith(`Answer: ${LINK}`)).toBe(true);
});

test("an e-mail has ASCII lines, one id for all attempts, and both of its parts have the link", () => {
  const facts = { from: "troupe@example.com", to: "ada@example.com", id: "msg_1", at: 0 };
  const { raw } = emailMessage(noticeOf(question({ prompt: "Zeile\r\nBcc: x@y.z" }), LINK), facts);
  expect(raw).toMatch(/^[\x20-\x7e\r\n]*$/);
  const [head = ""] = raw.split("\r\n\r\n");
  expect(head).not.toContain("Bcc");
  expect(head).toContain("Message-ID: <msg_1@example.com>");
  expect(head).toContain("Subject: =?utf-8?B?");
  for (const line of raw.split("\r\n")) expect(line.length).toBeLessThanOrEqual(78);
  expect(decoded(raw, "text/plain")).toContain(`Answer: ${LINK}`);
  expect(decoded(raw, "text/html")).toContain(`<a href="${LINK}">`);
  expect(decoded(raw, "text/html")).toContain("&#60;b&#62;&#38;");
});

test("an answer to an e-mail stands in its thread, and foreign ids make no headers", () => {
  const facts = { from: "troupe@example.com", to: "ada@example.com", id: "msg_1", at: 0 };
  const done = JSON.stringify({
    type: "run.completed",
    data: { team_id: "desk", task: "Hi", answer: { source: "a", text: "Done." } },
  });
  const thread = {
    subject: "Re: Invoice\r\nBcc: x@y.z",
    message_id: "<1@a.example>",
    references: ["<0@a.example>", "<bad\r\nBcc: x@y.z>"],
  };
  const { raw } = emailMessage(noticeOf(done, null), { ...facts, thread });
  expect(raw).toContain("Subject: Re: Invoice Bcc: x@y.z\r\n");
  expect(raw).toContain(
    "In-Reply-To: <1@a.example>\r\nReferences: <0@a.example>\r\n <1@a.example>\r\n",
  );
  expect(decoded(raw, "text/plain")).toBe("Done.");
});

test.each([
  ["an approval", { kind: "approval" }, true],
  ["an input", { kind: "input" }, true],
  ["a tool of the client", { kind: "tool" }, false],
  ["a login", { kind: "input", login: { server: "a" } }, false],
  ["a rule for anybody", { kind: "approval", rule: { when: [] } }, true],
  ["a rule that names who may answer", { kind: "approval", rule: { by: ["user:ada"] } }, false],
  ["a rule that asks for two", { kind: "approval", rule: { quorum: 2 } }, false],
])("%s is answered by a link: as everybody may answer it", (_name, request, may) => {
  expect(mayAnswerByLink(request)).toBe(may);
});

const answer = (status: number, response: string) => ({
  status,
  error: null,
  response,
  retryAfter: null,
});

test.each([
  [200, "ok", null, undefined],
  [200, '{"ok":true}', null, undefined],
  [200, "no_service", "Slack refused the message: no_service.", "receiver"],
  [
    200,
    '{"ok":false,"error":"channel_not_found"}',
    "Slack refused the message: channel_not_found.",
    "receiver",
  ],
  [400, "invalid_blocks", "Slack refused the message: invalid_blocks.", "message"],
  [500, "rollup_error", "Slack refused the message: rollup_error.", undefined],
])("Slack's answer %i %s is understood", (status, response, error, refused) => {
  const verdict = verdictOf("slack", answer(status, response));
  expect([verdict.error, verdict.refused]).toEqual([error, refused]);
});

test.each([
  [400, { description: "Bad Request: chat not found" }, "receiver", null],
  [400, { description: "Bad Request: can't parse entities" }, "message", null],
  [403, { description: "Forbidden: bot was blocked by the user" }, "receiver", null],
  [429, { description: "Too Many Requests", parameters: { retry_after: 7 } }, undefined, 7_000],
  [502, { description: "Bad Gateway" }, undefined, null],
])("Telegram's refusal %i is understood", (status, said, refused, wait) => {
  const body = JSON.stringify({ ok: false, error_code: status, ...said });
  const verdict = verdictOf("telegram", answer(status, body));
  expect([verdict.refused, verdict.retryAfter]).toEqual([refused, wait]);
  expect(verdict.error).toContain(said.description);
});
