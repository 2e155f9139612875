import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  checkWorkerSettings,
  devVarsFiles,
  readSettings,
  requireSandboxHere,
} from "#cli/server/settings.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "troupe-settings-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The names in the first column of the tables between two headings of docs/configuration.md. */
function documented(from: string, to: string): string[] {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/configuration.md"), "utf8");
  const part = page.slice(page.indexOf(from), page.indexOf(to));
  return [...part.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name = ""]) => name);
}

describe("settings of npm start", () => {
  test("pass on every setting of the Worker that is documented", () => {
    const names = documented("## The Worker", "## npm start");
    expect(names).toContain("SECRET_HOSTS");
    expect(names).toContain("MAX_WAIT_SECONDS");
    const environment = Object.fromEntries(names.map((name) => [name, "1"]));
    const { fromEnvironment } = readSettings(root, {
      ...environment,
      SECRET_HOSTS: "{}",
      SOMETHING_ELSE: "1",
    });
    expect(Object.keys(fromEnvironment).toSorted()).toEqual(names.toSorted());
  });

  test("pass on the secrets that SECRET_HOSTS names, also if .dev.vars sets it", () => {
    const environment = { GROQ_API_KEY: "gsk", MISTRAL_API_KEY: "mk", OTHER_API_KEY: "no" };
    const SECRET_HOSTS = '{"GROQ_API_KEY": ["api.groq.com"], "MISTRAL_API_KEY": [], "UNSET": []}';
    const named = { GROQ_API_KEY: "gsk", MISTRAL_API_KEY: "mk" };
    expect(readSettings(root, { ...environment, SECRET_HOSTS }).fromEnvironment).toEqual({
      ...named,
      SECRET_HOSTS,
    });
    writeFileSync(join(root, ".dev.vars"), `SECRET_HOSTS='${SECRET_HOSTS}'\n`);
    expect(readSettings(root, environment).fromEnvironment).toEqual(named);
  });

  test.for([
    [{}, true],
    [{ TROUPE_OPEN: "" }, true],
    [{ TROUPE_OPEN: "1" }, true],
    [{ TROUPE_OPEN: "0" }, false],
  ] as const)("open the API: %j", ([environment, open]) => {
    expect(readSettings(root, environment).open).toBe(open);
  });

  test.for([
    [["--config", "desk/wrangler.toml"]],
    [["--config=desk/wrangler.toml"]],
    [["-c", "desk/wrangler.toml"]],
  ])("prefer the .dev.vars beside the configuration: %j", ([args]) => {
    mkdirSync(join(root, "desk"));
    writeFileSync(join(root, ".dev.vars"), "A=project\nB=project\n");
    writeFileSync(join(root, "desk/.dev.vars"), "B=desk\n");
    const worker = (files: string[]): object => readSettings(root, {}, false, files).worker;
    expect(worker(devVarsFiles(root, ["--quiet", ...(args ?? [])]))).toEqual({
      A: "project",
      B: "desk",
    });
    expect(worker(devVarsFiles(root, ["--quiet"]))).toEqual({ A: "project", B: "project" });
  });

  test("prefer the environment to .dev.vars", () => {
    writeFileSync(join(root, ".dev.vars"), "TROUPE_OPEN=0\nSANDBOX_URL=http://127.0.0.1:1\n");
    expect(readSettings(root, {})).toMatchObject({
      open: false,
      fromEnvironment: {},
      worker: { SANDBOX_URL: "http://127.0.0.1:1" },
    });
    const environment = { TROUPE_OPEN: "1", SANDBOX_URL: "http://127.0.0.1:2" };
    expect(readSettings(root, environment)).toMatchObject({
      open: true,
      worker: { SANDBOX_URL: "http://127.0.0.1:2" },
    });
  });

  test("are closed with --auth, which accepts no other keys", () => {
    expect(readSettings(root, {}, true).open).toBe(false);
    for (const name of ["API_KEYS", "OPERATOR_KEY_HASH"]) {
      expect(() => readSettings(root, { [name]: "[]" }, true)).toThrow(`${name} is set`);
    }
    expect(() => readSettings(root, { TROUPE_OPEN: "1" }, true)).toThrow("TROUPE_OPEN is 1");
    expect(readSettings(root, { TROUPE_OPEN: "0" }, true).open).toBe(false);
  });

  test("have a sandbox of this machine where --python names its Python", () => {
    expect(() => requireSandboxHere(readSettings(root, {}), true)).not.toThrow();
    expect(() => requireSandboxHere(readSettings(root, {}), false)).toThrow(
      /--python needs the sandbox of Troupe's repository/,
    );
    const elsewhere = { SANDBOX_URL: "http://127.0.0.1:8788" };
    expect(() => requireSandboxHere(readSettings(root, elsewhere), true)).toThrow(
      /SANDBOX_URL names another one: remove one of the two/,
    );
    expect(() => requireSandboxHere(readSettings(root, { CODE: "off" }), true)).toThrow(
      /CODE=off starts none/,
    );
  });

  test.for([
    [{ PORT: "http" }, 'PORT is "http"'],
    [{ PORT: "65536" }, 'PORT is "65536"'],
    [{ TROUPE_OPEN: "yes" }, 'TROUPE_OPEN is "yes"'],
    [{ SECRET_HOSTS: "[]" }, "SECRET_HOSTS must be JSON"],
  ] as const)("are refused: %j", ([environment, message]) => {
    expect(() => readSettings(root, environment)).toThrow(message);
  });
});

describe("a wrong setting of the Worker is named with the allowed values", () => {
  test.for([
    [{ SECRETS_KEY: "short" }, "SECRETS_KEY must be 32 bytes as base64"],
    [{ SECRET_HOSTS: "{" }, "SECRET_HOSTS"],
    [
      { ALLOWED_EGRESS: "api.example.com, https://x/y" },
      'ALLOWED_EGRESS has "https://x/y": it must be a host',
    ],
    [{ WEBHOOK_HOSTS: "a?b" }, 'WEBHOOK_HOSTS has "a?b": it must be a host'],
    [{ SANDBOX_URL: "sandbox" }, "SANDBOX_URL must be an http:// or https:// URL"],
    [{ OPENAI_BASE_URL: "api.example.com" }, "OPENAI_BASE_URL must be an http:// or https:// URL"],
    [{ OLLAMA_HOST: "http://" }, "OLLAMA_HOST must be a host name"],
    [{ MODEL_PRICES: "1" }, "MODEL_PRICES"],
    [{ API_KEYS: "{" }, "API_KEYS"],
    [{ OPERATOR_KEY_HASH: "x" }, "OPERATOR_KEY_HASH"],
    [{ JWT_ISSUER: "me" }, "JWT_AUDIENCE and JWT_JWKS_URL must be set"],
    [{ OTEL_TRACES_SAMPLER_ARG: "5" }, "OTEL_TRACES_SAMPLER_ARG"],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "x" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
    [{ ALLOWED_ORIGINS: "x" }, "ALLOWED_ORIGINS"],
    [{ A2A_TEAM: "x" }, "A2A_TEAM"],
    [{ A2A_CARD_KEY: "x" }, "A2A_CARD_KEY"],
    [{ CONSOLE: "maybe" }, 'CONSOLE is "maybe": it must be off or on'],
    [{ MAX_PARTICIPANTS: "0" }, "MAX_PARTICIPANTS"],
    [{ TENANT_TEAMS: "x" }, "TENANT_TEAMS"],
    [{ TENANT_COST_PER_DAY: "5.5" }, "TENANT_COST_PER_DAY needs the setting MODEL_PRICES"],
  ] as [Record<string, string>, string][])("%j", ([environment, message]) => {
    expect(() => checkWorkerSettings(readSettings(root, environment))).toThrow(message);
  });

  test("unless all settings are right", () => {
    const environment = {
      SECRETS_KEY: Buffer.alloc(32).toString("base64"),
      ALLOWED_EGRESS:
        "api.example.com *.example.com,example.com:8443 http://127.0.0.1:8080/ [::1]:80",
      WEBHOOK_HOSTS: "*",
      OLLAMA_HOST: "gpu",
      CONSOLE: "off",
    };
    expect(() => checkWorkerSettings(readSettings(root, environment))).not.toThrow();
  });
});
