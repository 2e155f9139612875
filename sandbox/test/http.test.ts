import { Validator } from "@seriousme/openapi-schema-validator";
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSettings, settingList } from "../settings.ts";
import { ROOT } from "../../test/support/npm-start.ts";
import { testWith } from "../../test/support/programs.ts";
import { Sandbox } from "../../test/support/sandbox.ts";

let closed: Sandbox;
let open: Sandbox;
beforeAll(async () => {
  [closed, open] = await Promise.all([
    Sandbox.start({ settings: { SANDBOX_MAX_BODY_BYTES: "1000", SANDBOX_MAX_SESSIONS: "1" } }),
    Sandbox.start({ settings: { SANDBOX_KEY: "" } }),
  ]);
});
afterAll(() => Promise.all([closed, open].map((one) => one[Symbol.asyncDispose]())));

async function problem(response: Response): Promise<[number, string, unknown]> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const body = (await response.json()) as { code: string; status: number; errors?: unknown };
  expect(body).toMatchObject({
    type: `urn:troupe:problem:${body.code}`,
    status: response.status,
    title: expect.any(String) as string,
    detail: expect.any(String) as string,
  });
  expect(JSON.stringify(body)).not.toMatch(/\.ts:|node_modules/);
  return [response.status, body.code, body.errors];
}

const post = (body: string | undefined, headers: Record<string, string> = {}): Promise<Response> =>
  closed.request("/v1/sessions/s/execute", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body }),
  });

const BLOCK = { language: "sh", code: "echo x" };

describe("a request", () => {
  test.each([
    [undefined],
    ["Bearer wrong"],
    ["Bearer a-key-for-tests-onl"],
    ["Bearer a-key-for-tests-only2"],
    ["Basic a-key-for-tests-only"],
    ["a-key-for-tests-only"],
  ])("that has the Authorization %s is answered with 401", async (authorization) => {
    for (const path of ["/v1/languages", "/v1/sessions/s/files", "/v1/openapi.json", "/nowhere"]) {
      const response = await fetch(closed.url + path, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect((await problem(response)).slice(0, 2)).toEqual([401, "unauthorized"]);
    }
  });

  test("that asks for the health needs no key", async () => {
    const response = await fetch(`${closed.url}/healthz`);
    expect(await response.json()).toMatchObject({ status: "ok" });
  });

  test.each([
    [{ host: "evil.example" }, 403],
    [{ host: "127.0.0.1.evil.example" }, 403],
    [{ origin: "http://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "http://localhost:8787" }, 200],
    [{ host: "localhost:1" }, 200],
    [{}, 200],
  ])(
    "that has the headers %o is answered with %i by a service without a key",
    async (headers, status) => {
      const asked = request(`${open.url}/v1/languages`, { headers }).end();
      const answer = await new Promise<{ status: number | undefined; body: string }>((resolve) => {
        asked.on("response", (response) => {
          void textOf(response).then((body) => resolve({ status: response.statusCode, body }));
        });
      });
      expect(answer.status).toBe(status);
      if (status === 403) expect(JSON.parse(answer.body)).toMatchObject({ code: "not_local" });
    },
  );
});

describe("a request is refused", () => {
  test.each([
    ["{", {}, 400, "malformed_json"],
    [undefined, {}, 400, "malformed_json"],
    [
      JSON.stringify({ code_blocks: [BLOCK] }),
      { "content-type": "text/plain" },
      415,
      "unsupported_media_type",
    ],
    [
      JSON.stringify({ code_blocks: [BLOCK] }),
      { "content-encoding": "gzip" },
      415,
      "unsupported_media_type",
    ],
    [
      JSON.stringify({ code_blocks: [{ ...BLOCK, code: "x".repeat(2000) }] }),
      {},
      413,
      "body_too_large",
    ],
    ["[]", {}, 422, "invalid_body"],
    [`${"[".repeat(400)}${"]".repeat(400)}`, {}, 422, "invalid_body"],
  ])("whose body is %s with the headers %o", async (body, headers, status, code) => {
    expect((await problem(await post(body, headers))).slice(0, 2)).toEqual([status, code]);
  });

  test.each([
    [{}, "code_blocks"],
    [{ code_blocks: [] }, "code_blocks"],
    [
      { code_blocks: Array.from({ length: 33 }, () => ({ language: "", code: "" })) },
      "code_blocks",
    ],
    [{ code_blocks: [{ language: "sh" }] }, "code_blocks.0.code"],
    [{ code_blocks: [{ ...BLOCK, code: "\ud800" }] }, "code_blocks.0.code"],
    [{ code_blocks: [BLOCK], timeout_seconds: 0 }, "timeout_seconds"],
    [{ code_blocks: [BLOCK], timeout_seconds: 601 }, "timeout_seconds"],
    [{ code_blocks: [BLOCK], timeout_seconds: "1" }, "timeout_seconds"],
    [{ code_blocks: [BLOCK], timeout: 1 }, ""],
  ])("%j for its %s", async (body, path) => {
    const [status, code, errors] = await problem(await post(JSON.stringify(body)));
    expect([status, code]).toEqual([422, "invalid_body"]);
    expect(errors).toMatchObject([{ path, message: expect.any(String) as string }]);
  });

  test("if names and keys are ambiguous", async () => {
    const body = JSON.stringify({ code_blocks: [BLOCK] });
    for (const key of ["", "with space", "x".repeat(256), "ümlaut"]) {
      expect((await problem(await post(body, { "idempotency-key": key })))[1]).toBe("invalid_key");
    }
    for (const session of ["a.b", "x".repeat(129), "%20", "a%2fb", "%00"]) {
      const response = await closed.request(`/v1/sessions/${session}/files`);
      expect(await problem(response)).toMatchObject([
        422,
        "invalid_session",
        [{ path: "session" }],
      ]);
    }
  });

  test("if the path or its method does not exist", async () => {
    expect((await problem(await closed.request("/v1/nothing"))).slice(0, 2)).toEqual([
      404,
      "not_found",
    ]);
    const wrong = await closed.request("/v1/sessions/s/files/a/b", { method: "PATCH" });
    expect(wrong.headers.get("allow")).toBe("GET, PUT, DELETE, HEAD, OPTIONS");
    expect((await problem(wrong)).slice(0, 2)).toEqual([405, "method_not_allowed"]);
    const options = await closed.request("/v1/languages", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    const head = await closed.request("/v1/languages", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("if there are too many sessions", async () => {
    const put = (session: string): Promise<Response> =>
      closed.request(`/v1/sessions/${session}/files/a`, { method: "PUT", body: "" });
    expect((await put("first")).status).toBe(201);
    const second = await put("second");
    expect(second.headers.get("retry-after")).toBe("60");
    expect((await problem(second)).slice(0, 2)).toEqual([429, "too_many_sessions"]);
    expect((await closed.request("/v1/sessions/first", { method: "DELETE" })).status).toBe(204);
    expect((await put("second")).status).toBe(201);
  });

  test("if it is not HTTP", async () => {
    const { hostname, port } = new URL(closed.url);
    for (const line of ["GET /\\..\\x HTTP/1.1", "GET x HTTP/1.1", "NONSENSE"]) {
      const socket = connect(Number(port), hostname);
      socket.end(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(await textOf(socket)).toMatch(/^HTTP\/1.1 400 /);
    }
  });
});

test("the description is OpenAPI, and covers every path", async () => {
  const document = (await (await closed.request("/v1/openapi.json")).json()) as {
    paths: Record<string, object>;
  };
  const { valid, errors } = await new Validator().validate(document);
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(
    Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)]),
  ).toEqual([
    ["/v1/sessions/{session}/execute", ["post"]],
    ["/v1/sessions/{session}/executions/{key}", ["delete"]],
    ["/v1/sessions/{session}/files", ["get"]],
    ["/v1/sessions/{session}/files/{path}", ["get", "put", "delete"]],
    ["/v1/sessions/{session}/mcp", ["post"]],
    ["/v1/sessions/{session}/mcp/{program}", ["post"]],
    ["/v1/sessions/{session}", ["delete"]],
    ["/v1/languages", ["get"]],
    ["/healthz", ["get"]],
    ["/v1/openapi.json", ["get"]],
  ]);
  const languages = (await (await closed.request("/v1/languages")).json()) as {
    languages: object[];
  };
  expect(languages).toMatchObject({
    isolation: "process",
    languages: expect.arrayContaining([
      { name: "javascript", aliases: ["js", "node"], version: expect.any(String) as string },
    ]) as object[],
  });
});

test.each([
  [{ SANDBOX_PORT: "x" }, "SANDBOX_PORT must be a whole number from 0 to 65535"],
  [{ SANDBOX_ISOLATION: "docker" }, "SANDBOX_ISOLATION must be wasm or process"],
  [{ SANDBOX_KEY: "short" }, "SANDBOX_KEY must have at least 16 characters"],
  [{ SANDBOX_HOST: "0.0.0.0" }, "SANDBOX_KEY is required when SANDBOX_HOST is 0.0.0.0"],
  [
    { SANDBOX_ISOLATION_STRICT: "cgroups,doors" },
    "SANDBOX_ISOLATION_STRICT must be 0, 1, namespaces or cgroups",
  ],
  [{ SANDBOX_READABLE: "/no/such/directory" }, "SANDBOX_READABLE names directories that do not"],
  [{ SANDBOX_TIMEOUT_SECONDS: "700" }, "SANDBOX_TIMEOUT_SECONDS must not be more than"],
])("the settings %o are invalid", (settings, message) => {
  expect(() => readSettings(settings)).toThrow(message);
});

test.each([
  ["", [], false],
  ["0", [], true],
  ["cgroups", ["cgroups"], false],
  ["cgroups, namespaces", ["namespaces", "cgroups"], false],
  ["1", ["namespaces", "cgroups"], false],
])("the setting SANDBOX_ISOLATION_STRICT=%s requires %o", (given, required, mayFall) => {
  const { strict } = readSettings({ SANDBOX_ISOLATION_STRICT: given });
  expect(strict).toEqual({ required, mayFall });
});

test("a service with wrong settings names all faults and ends", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "sandbox/main.ts")], {
    env: { PATH: process.env.PATH, SANDBOX_PORT: "-1", SANDBOX_POOL: "many" },
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([
    1,
    "SANDBOX_PORT must be a whole number from 0 to 65535\nSANDBOX_POOL must be a whole number from 0 to 100\n",
  ]);
});

describe("the page of the sandbox", () => {
  const page = readFileSync(join(ROOT, "docs/sandbox.md"), "utf8");

  test("lists every setting with its default", () => {
    const rows = [...page.matchAll(/^\| `(SANDBOX_\w+)` \| (.*?) \| (.*) \|$/gm)];
    expect(rows.map((row) => row.slice(1))).toEqual(
      settingList.map(({ name, fallback, description }) => [
        name,
        fallback === "" ? "" : `\`${fallback}\``,
        description,
      ]),
    );
  });

  testWith("curl")("has commands with the described effect", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sandbox-docs-"));
    await writeFile(join(folder, "report.csv"), "a,b");
    const commands = [...page.matchAll(/^```bash\n(curl[\s\S]*?)^```$/gm)].map(
      ([, code = ""]) => code,
    );
    const [execute = "", files = ""] = commands;
    expect(commands).toHaveLength(2);
    const shell = async (code: string): Promise<Record<string, unknown>> => {
      const filled = code.replaceAll("http://127.0.0.1:8788", open.url);
      const { stdout } = await promisify(execFile)("sh", ["-c", filled], { cwd: folder });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const said = /^```json\n(.*"exit_code".*)\n```$/m.exec(page)?.[1] ?? "";
    expect({ ...(await shell(execute)), duration_ms: 35 }).toEqual(JSON.parse(said));
    expect(await shell(files)).toMatchObject({
      files: [{ path: "data/report.csv", size: 3 }, { path: "n.txt" }],
    });
    await rm(folder, { recursive: true });
  });
});
