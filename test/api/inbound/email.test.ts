import PostalMime from "postal-mime";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PATIENCE } from "../../support/patience.ts";
import { type SentMail, TestWorker } from "../../support/worker.ts";
import { TriggeredTeam } from "./support.ts";

const DOMAIN = "in.example.com";
const PASSED =
  "mx.cloudflare.net; dkim=pass header.d=example.com; spf=pass smtp.mailfrom=ada@example.com";

let worker: TestWorker;
let team: TriggeredTeam;
let address: string;
let count = 0;

beforeAll(async () => {
  worker = await TestWorker.start(
    { SECRETS_KEY: btoa("k".repeat(32)), EMAIL_DOMAIN: DOMAIN },
    { email: true, logs: () => undefined },
  );
  team = await TriggeredTeam.create(worker);
  const put = await team.put("desk", { kind: "email", task: "{{ subject }}: {{ text }}" });
  address = put.address;
});

afterAll(() => worker[Symbol.asyncDispose]());

interface Mail {
  to?: string;
  from?: string;
  /** `From`, if it is not the address of the envelope. */
  sender?: string;
  id?: string;
  results?: string | null;
  headers?: readonly string[];
  text?: string;
}

/** Hands an e-mail to the Worker, as Cloudflare does. @returns the reason of its rejection */
async function send(given: Mail = {}): Promise<{ rejected: string | undefined; id: string }> {
  const { to = address, from = "ada@example.com", sender = from, headers = [] } = given;
  const id = given.id ?? `<mail-${++count}@example.com>`;
  const { results = PASSED, text = "It does not print." } = given;
  const raw = [
    ...(results === null ? [] : [`Authentication-Results: ${results}`]),
    `From: Ada <${sender}>`,
    `To: ${to}`,
    "Subject: =?utf-8?Q?Dr=C3=BCcker?=",
    `Message-ID: ${id}`,
    ...headers,
    ...(headers.some((line) => line.startsWith("Content-Type"))
      ? []
      : ["Content-Type: text/plain; charset=utf-8"]),
    "",
    text,
  ].join("\r\n");
  const query = new URLSearchParams({ from, to, format: "json" });
  const response = await worker.fetch(`/cdn-cgi/local/email?${query.toString()}`, {
    method: "POST",
    body: raw,
  });
  const answer = (await response.json()) as { outcome: string; rejectReason?: string };
  expect(answer.outcome).toBe("ok");
  return { rejected: answer.rejectReason, id };
}

/** The e-mail that answers another one. */
function answerTo(id: string): Promise<SentMail> {
  const find = async (): Promise<SentMail | undefined> =>
    (await worker.sentMails()).find(({ raw }) => raw.includes(`In-Reply-To: ${id}`));
  return vi.waitUntil(find, PATIENCE);
}

async function taskOf(run: string | undefined): Promise<unknown[]> {
  const found = await team.json<{ task: { content: unknown[] }[] }>(
    "GET",
    `/v1/teams/${team.id}/runs/${run}`,
  );
  return found.task[0]?.content ?? [];
}

describe("the address of a trigger", () => {
  test("has its tenant, team and id, or a hash where these are too long or have capitals", async () => {
    expect(address).toBe(`local+${team.id}+desk@${DOMAIN}`);
    for (const id of ["Desk", "d".repeat(64)]) {
      const put = await team.put(id, { kind: "email" });
      expect(put.address).toMatch(/^local\+[0-9a-f]{20}@in\.example\.com$/);
      expect((await send({ to: put.address.toUpperCase() })).rejected).toBeUndefined();
      expect(await team.deliveries(id)).toMatchObject([{ status: "ran" }]);
    }
  });

  test("has a hash of a tenant whose id is long", async () => {
    const headers = { "troupe-tenant": "t".repeat(50) };
    const ask = (method: string, path: string, body: object): Promise<Response> =>
      worker.fetch(path, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const { SAMPLE_COMPONENT } = await import("../../support/sample-component.ts");
    await ask("POST", "/v1/teams", { id: "a-team-of-them", component: SAMPLE_COMPONENT });
    const put = await ask("PUT", "/v1/teams/a-team-of-them/triggers/desk", {
      kind: "email",
      task: "Go.",
    });
    const { address: hashed } = (await put.json()) as { address: string };
    expect(hashed).toMatch(/^_[0-9a-f]{20}\+[0-9a-f]{20}@in\.example\.com$/);
    expect((await send({ to: hashed })).rejected).toBeUndefined();
    const runs = await worker.fetch("/v1/teams/a-team-of-them/runs", { headers });
    expect(((await runs.json()) as { runs: unknown[] }).runs).toHaveLength(1);
  });

  test("that does not exist is rejected", async () => {
    for (const to of [
      `local+${team.id}+none@${DOMAIN}`,
      `_x+y@${DOMAIN}`,
      `a@${DOMAIN}`,
      address.replace(DOMAIN, "example.org"),
    ]) {
      expect((await send({ to })).rejected).toBe("There is no such address.");
    }
  });

  test("takes no events over HTTP", async () => {
    const event = { headers: { authorization: "Bearer none" }, body: "{}" };
    expect((await team.send("desk", event)).status).toBe(401);
  });
});

describe("e-mails", () => {
  test("start runs, each once, and continue the team's conversation", async () => {
    const { id, rejected } = await send({ text: "It does not print.\r\nAda" });
    expect(rejected).toBeUndefined();
    const [delivery] = await team.deliveries("desk");
    expect(delivery).toMatchObject({ id, status: "ran" });
    const [task, , file] = await taskOf(delivery?.run);
    expect(task).toBe("Drücker: It does not print.\nAda");
    const payload = JSON.parse(
      Buffer.from((file as { data: string }).data, "base64").toString(),
    ) as object;
    expect(payload).toMatchObject({
      from: { address: "ada@example.com", name: "Ada" },
      to: [address],
      envelope_from: "ada@example.com",
      subject: "Drücker",
      message_id: id,
      thread: id,
    });
    await send({ id });
    expect(await team.deliveries("desk")).toHaveLength(1);
    const before = (await team.runs()).length;
    const answer = await send({
      headers: [`In-Reply-To: ${id}`, `References: ${id}`],
      text: "Still not.",
    });
    expect(await team.runs()).toHaveLength(before + 1);
    const [latest] = await team.deliveries("desk");
    expect(latest?.id).toBe(answer.id);
    const [, , next] = await taskOf(latest?.run);
    const reply = JSON.parse(
      Buffer.from((next as { data: string }).data, "base64").toString(),
    ) as object;
    expect(reply).toMatchObject({ thread: id, in_reply_to: id, references: [id] });
  });

  test("are answered in their thread, from the address that they went to", async () => {
    const earlier = "<first@example.com>";
    const { id } = await send({ headers: [`References: ${earlier}`, `In-Reply-To: ${earlier}`] });
    const { from, to, raw } = await answerTo(id);
    expect([from, to]).toEqual([address, "ada@example.com"]);
    const mail = await PostalMime.parse(raw);
    expect(mail).toMatchObject({
      from: { address },
      to: [{ address: "ada@example.com" }],
      subject: "Re: Drücker",
      inReplyTo: id,
      references: `${earlier} ${id}`,
    });
    expect(mail.headers).toContainEqual(
      expect.objectContaining({ key: "auto-submitted", value: "auto-replied" }),
    );
    expect(mail.text?.trim()).toMatch(/^(one|two|three)$/);
    // The answer of a person to that continues the conversation, and is answered as well.
    const next = await send({ headers: [`References: ${earlier} ${id} ${mail.messageId}`] });
    await answerTo(next.id);
  });

  test("have their attachments as files, as far as messages can have them", async () => {
    const text = [
      "--b",
      "Content-Type: text/plain",
      "",
      "See the list.",
      "--b",
      'Content-Type: text/csv; name="list.csv"',
      'Content-Disposition: attachment; filename="list.csv"',
      "",
      "a,b",
      "--b",
      'Content-Type: application/zip; name="all.zip"',
      'Content-Disposition: attachment; filename="all.zip"',
      "Content-Transfer-Encoding: base64",
      "",
      "UEsDBAA=",
      "--b--",
      "",
    ].join("\r\n");
    await send({ headers: ['Content-Type: multipart/mixed; boundary="b"'], text });
    const [delivery] = await team.deliveries("desk");
    const content = await taskOf(delivery?.run);
    expect(content.slice(3)).toMatchObject([{ name: "list.csv", media_type: "text/csv" }]);
    const { data } = content[2] as { data: string };
    expect(JSON.parse(atob(data))).toMatchObject({
      attachments: [{ name: "list.csv" }, { name: "all.zip", media_type: "application/zip" }],
    });
  });

  test.each([
    [
      "neither",
      "mx.cloudflare.net; dkim=fail header.d=example.com; spf=fail smtp.mailfrom=ada@example.com",
    ],
    ["dmarc", "mx.cloudflare.net; dmarc=fail; spf=pass smtp.mailfrom=ada@example.com"],
    ["of another domain", "mx.cloudflare.net; spf=pass smtp.mailfrom=eve@example.org; dkim=none"],
  ])("whose sender is not authenticated are rejected: %s", async (_, results) => {
    const { id, rejected } = await send({ results });
    expect(rejected).toBe("The sender of the e-mail is not authenticated by SPF or DKIM.");
    expect(await team.deliveries("desk")).toContainEqual({
      id,
      at: expect.any(String),
      status: "refused",
      reason: "sender_not_authentic",
    });
  });

  test("that bring results of their own are judged by the platform's", async () => {
    const headers = [`Authentication-Results: ${PASSED}`];
    const { rejected } = await send({ results: "mx.cloudflare.net; spf=fail; dkim=none", headers });
    expect(rejected).toMatch(/not authenticated/);
  });

  test("are taken if SPF or DKIM vouches for the domain of the sender", async () => {
    for (const results of [
      "mx.cloudflare.net; spf=pass smtp.mailfrom=bounces@mail.example.com; dkim=none",
      "mx.cloudflare.net; spf=fail smtp.mailfrom=x@lists.example.org; dkim=pass (2048) header.d=example.com",
    ]) {
      expect((await send({ results })).rejected).toBeUndefined();
    }
  });

  test.each([
    ["Auto-Submitted: auto-replied"],
    ["Precedence: bulk"],
    ["List-Id: <news.example.com>"],
    ["List-Unsubscribe: <https://example.com/>"],
    ["Return-Path: <>"],
  ])("written by programs start no run: %s", async (header) => {
    const before = (await team.runs()).length;
    const { id, rejected } = await send({ headers: [header] });
    expect(rejected).toBeUndefined();
    expect(await team.runs()).toHaveLength(before);
    expect(await team.deliveries("desk")).toContainEqual(
      expect.objectContaining({ id, status: "skipped", reason: "automatic_message" }),
    );
  });

  test("are filtered by their fields", async () => {
    const filter = { when: [{ argument: "from.address", matches: "@example\\.com$" }] };
    const put = await team.put("ours", { kind: "email", filter });
    const foreign = "mx.cloudflare.net; spf=pass smtp.mailfrom=eve@example.org";
    await send({ to: put.address, from: "eve@example.org", results: foreign });
    await send({ to: put.address });
    const statuses = (await team.deliveries("ours")).map(({ status }) => status);
    expect(statuses).toEqual(["ran", "filtered"]);
  });
});
