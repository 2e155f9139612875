import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { RuleInput } from "./rule.ts";
import { startFakeOpenAI } from "./server.ts";

// node test/support/fake-openai/main.ts [--port 4010] [--rules rules.json] [--no-record]
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    rules: { type: "string" },
    record: { type: "boolean", default: true },
  },
  allowNegative: true,
});

const rules =
  values.rules === undefined
    ? []
    : (JSON.parse(await readFile(values.rules, "utf8")) as RuleInput[]);
const fake = await startFakeOpenAI({ port: Number(values.port), rules, record: values.record });
process.stdout.write(`${JSON.stringify({ url: fake.url, origin: fake.origin })}\n`);

const stop = (): void => void fake.close().then(() => process.exit(0));
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
