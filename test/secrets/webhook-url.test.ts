import { expect, test } from "vitest";
import { givenWebhookUrl, shownWebhookUrl } from "#secrets/webhook-url.ts";

const M = "**********";

test.for([
  ["https://hooks.example/in?token=abc&v=1", `https://hooks.example/in?token=${M}&v=1`],
  [
    "https://hooks.slack.com/services/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",
    `https://hooks.slack.com/services/T024BE7LD/B024BE7LE/${M}`,
  ],
  [
    "https://discord.com/api/webhooks/123456789012345678/aB3-dE_5fGhIjKlMnOpQrStUvWxYz0123456789",
    `https://discord.com/api/webhooks/123456789012345678/${M}`,
  ],
  [
    "https://n8n.example/webhook/0b9e2a3c-1f0d-4a7e-9c55-8d2f3b1a6e77",
    `https://n8n.example/webhook/${M}`,
  ],
  [
    "https://api.telegram.org/bot123456:AAEhBOweik6ad9r4QXr/send",
    `https://api.telegram.org/${M}/send`,
  ],
  [
    "https://hooks.example/team-notifications/production-2026",
    "https://hooks.example/team-notifications/production-2026",
  ],
  ["https://hooks.example:8443/a/b?x=#part", "https://hooks.example:8443/a/b?x=#part"],
  ["https://hooks.example?key=abc", `https://hooks.example?key=${M}`],
] as const)("%s is shown as %s", ([url, shown]) => {
  expect(shownWebhookUrl(url)).toBe(shown);
  expect(givenWebhookUrl(shown, url)).toBe(url);
});

test("a redacted URL stands for the stored one only if all other fields are the same", () => {
  const stored = "https://hooks.example/in?token=abc";
  expect(givenWebhookUrl(`https://hooks.example/in?token=${M}`, stored)).toBe(stored);
  for (const given of [
    `https://evil.example/in?token=${M}`,
    `https://hooks.example/other?token=${M}`,
    `https://hooks.example/in?token=${M}&more=1`,
  ]) {
    expect(givenWebhookUrl(given, stored)).toBeUndefined();
    expect(givenWebhookUrl(given, undefined)).toBeUndefined();
  }
  expect(givenWebhookUrl("https://other.example/", stored)).toBe("https://other.example/");
});
