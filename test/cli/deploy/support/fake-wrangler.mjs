#!/usr/bin/env node
// Acts as wrangler: asks the test for the exit code, the output and the file that wrangler writes.

import { readFileSync, writeFileSync } from "node:fs";

const args = process.argv.slice(2);
const place = args.indexOf("--secrets-file");
const secrets = place < 0 ? null : JSON.parse(readFileSync(args[place + 1] ?? "", "utf8"));
const named = args.indexOf("--config");
const config = readFileSync(named < 0 ? "wrangler.toml" : (args[named + 1] ?? ""), "utf8");
const response = await fetch(process.env.FAKE_WRANGLER ?? "", {
  method: "POST",
  body: JSON.stringify({
    args,
    secrets,
    config,
    account: process.env.CLOUDFLARE_ACCOUNT_ID ?? null,
  }),
});
const { code, stdout = "", written } = await response.json();
process.stdout.write(stdout);
if (written !== undefined) {
  const lines = [
    { type: "wrangler-session", version: 1 },
    { version: 1, ...written },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH ?? "", text);
}
process.exitCode = code;
