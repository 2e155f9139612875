import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";
import { rowsOf } from "../support/samples.ts";
import { Project } from "./support/project.ts";

// Projects with the versions of zod that the package's range begins with, has in the middle, and ends with today.

const tarball = inject("tarball");
const own = join(ROOT, "node_modules/.bin/tsc");

test.each(["4.2.0", ...rowsOf("zod", ["4.4.3", "latest"])])(
  "the package works with zod %s",
  async (version) => {
    const packages = [`zod@${version}`, "typescript@5.9.3", "@types/node@24"];
    await using project = await Project.installed(tarball, ...packages);
    const copies = globSync("**/node_modules/zod/package.json", { cwd: project.folder });
    // Two copies would make the compiler compare all of their types, which takes minutes.
    expect(copies).toEqual(["node_modules/zod/package.json"]);
    await project.copy("projects/schemas.ts", "projects/library.ts");
    for (const compiler of ["node_modules/.bin/tsc", own]) {
      const options = { resolution: "bundler", types: ["node"], compiler } as const;
      expect(await project.allComplaints(["schemas.ts", "library.ts"], options)).toEqual([]);
    }
    await project.run(process.execPath, ["schemas.ts"]);
  },
);

const AGENT = `import { AssistantAgent, FunctionTool, run } from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";
export async function parametersOf(parameters) {
  const tool = new FunctionTool({ name: "f", description: "d", parameters, execute: ({ n }) => n + 1 });
  const calls = [{ id: "1", name: "f", arguments: '{"n":"x"}' }, { id: "2", name: "f", arguments: '{"n":1}' }];
  const modelClient = new ScriptedChatCompletionClient([calls]);
  const { text } = await run(new AssistantAgent({ name: "a", modelClient, tools: [tool] }), "Go.");
  return { schema: modelClient.requests[0].options.tools[0].parameters, text };
}
`;

describe("schemas of other libraries", () => {
  test("give their own JSON Schema, or are refused with a remedy", async () => {
    const packages = ["valibot@1.5.0", "@valibot/to-json-schema@1.8.0", "arktype@2.2.9"];
    await using project = await Project.installed(tarball, ...packages, "zod@3.25.76");
    await project.write("agent.js", AGENT);
    await project.write(
      "main.js",
      `import { type } from "arktype";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { z } from "zod";
import { parametersOf } from "./agent.js";
const refusal = (schema) => parametersOf(schema).then(() => "none", (error) => error.message);
const plain = v.object({ n: v.pipe(v.number(), v.description("a number")) });
process.stdout.write(JSON.stringify({
  arktype: await parametersOf(type({ n: "number" })),
  valibot: await parametersOf(toStandardJsonSchema(plain)),
  plain: await refusal(plain),
  zod3: await refusal(z.object({ n: z.number() })),
}));
`,
    );
    const found = JSON.parse(await project.run(process.execPath, ["main.js"])) as {
      [name: string]: { schema: { properties: unknown }; text: string };
    };
    expect(found["arktype"]?.schema.properties).toEqual({ n: { title: "N", type: "number" } });
    expect(found["valibot"]?.schema.properties).toEqual({
      n: { title: "N", type: "number", description: "a number" },
    });
    for (const name of ["arktype", "valibot"]) {
      expect(found[name]?.text).toMatch(/^invalid arguments for f: n.*\n2$/);
    }
    expect(found["plain"]).toMatch(
      /toStandardJsonSchema\(schema\) from "@valibot\/to-json-schema"/,
    );
    expect(found["zod3"]).toMatch(/parameters of "f" .* from version 4\.2 on/);
  });
});
