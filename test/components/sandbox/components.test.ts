import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  SandboxCodeExecutor,
  coreComponents,
  dumpComponent,
  sandboxComponents,
} from "troupe";
import type { JsonObject } from "troupe";
import { sandboxAddress } from "#components/sandbox/settings.ts";

const URL = "http://127.0.0.1:1";

function registry(sandbox: { url: string } | null = { url: URL }): ComponentRegistry {
  return new ComponentRegistry().register(
    ...coreComponents(new Catalog()),
    ...sandboxComponents(sandbox ?? undefined),
  );
}

const modules = "autogen_ext.code_executors";
const docker = {
  image: "python:3-slim",
  auto_remove: true,
  stop_container: true,
  functions_module: "functions",
  extra_volumes: {},
  extra_hosts: {},
  delete_tmp_files: false,
};

/** Provider, what AutoGen may have written, what is dumped of it, the keys without effect. */
const EXECUTORS: [string, JsonObject, JsonObject, string[]][] = [
  ["troupe.code_executors.SandboxCodeExecutor", { timeout: 9 }, { timeout: 9 }, []],
  [
    `${modules}.local.LocalCommandLineCodeExecutor`,
    { timeout: 9, work_dir: "coding", functions_module: "functions", cleanup_temp_files: true },
    { timeout: 9, work_dir: "coding", functions_module: "functions", cleanup_temp_files: true },
    ["work_dir"],
  ],
  [
    `${modules}.docker.DockerCommandLineCodeExecutor`,
    { timeout: 9, image: "python:3.12", init_command: "pip install numpy", work_dir: null },
    { ...docker, timeout: 9, image: "python:3.12", init_command: "pip install numpy" },
    ["image", "init_command"],
  ],
  [
    `${modules}.jupyter.JupyterCodeExecutor`,
    { timeout: 9, kernel_name: "ir" },
    { timeout: 9, kernel_name: "ir" },
    ["kernel_name"],
  ],
  [
    `${modules}.docker_jupyter.DockerJupyterCodeExecutor`,
    { timeout: 9, jupyter_server: { host: "jupyter", use_https: true } },
    { timeout: 9, jupyter_server: { host: "jupyter", use_https: true }, kernel_name: "python3" },
    ["jupyter_server"],
  ],
  [
    `${modules}.azure.ACADynamicSessionsCodeExecutor`,
    { timeout: 9, pool_management_endpoint: "https://pool" },
    { timeout: 9, pool_management_endpoint: "https://pool" },
    ["pool_management_endpoint"],
  ],
];

function agent(provider: string, config: JsonObject = {}): JsonObject {
  return {
    provider: "autogen_agentchat.agents.CodeExecutorAgent",
    config: { name: "runner", code_executor: { provider, config } },
  };
}

describe("the executors of code", () => {
  test.each(EXECUTORS)(
    "include %s, which loads and dumps under its own name, and names options without effect",
    (provider, config, dumped, ignored) => {
      const executor = registry().load({ provider, config }, "code_executor");
      expect(executor).toBeInstanceOf(SandboxCodeExecutor);
      expect(dumpComponent(executor)).toEqual({
        provider,
        component_type: "code_executor",
        version: 1,
        component_version: 1,
        config: dumped,
      });

      const place = "component.config.code_executor";
      const notes = registry().notes(agent(provider, config));
      const paths = notes.map(({ path }) => path);
      expect(paths).toEqual([
        ...(provider.startsWith("autogen") ? [`${place}.provider`] : []),
        // Variables do not outlive their block.
        ...(provider.includes("jupyter") ? [`${place}.provider`] : []),
        ...ignored.map((key) => `${place}.config.${key}`),
      ]);
    },
  );

  test.each(EXECUTORS)("include %s, which has AutoGen's timeout, a whole number", (provider) => {
    const executor = registry().load<SandboxCodeExecutor>({ provider, config: {} });
    expect(executor.toConfig()).toMatchObject({ timeout: 60 });
    for (const timeout of [0, 1.5, "long"]) {
      expect(registry().validate({ provider, config: { timeout } })).toEqual([
        { path: "component.config.timeout", message: expect.any(String) as string },
      ]);
    }
  });

  test.each(EXECUTORS)(
    "include %s, which accepts no approval that would ask no human",
    (provider) => {
      expect(registry().validate({ provider, config: { approval: "human" } })).toEqual([
        { path: "component.config.approval", message: expect.stringMatching(/^has no effect/) },
      ]);
    },
  );

  test.each(EXECUTORS)("include %s, which cannot be loaded without a sandbox", (provider) => {
    expect(registry(null).validate(agent(provider))).toEqual([
      {
        path: "component.config.code_executor.config",
        message: expect.stringContaining("SANDBOX_URL") as string,
      },
    ]);
  });

  test("ignore a place for code in component JSON", () => {
    const config = { url: "https://elsewhere.example", apiKey: "k", session: "another-team" };
    const executor = registry().load({ provider: "SandboxCodeExecutor", config });
    expect(executor.toConfig()).toEqual({ timeout: 60 });
  });

  test("refuse a timeout that is invalid in code, too", () => {
    expect(() => new SandboxCodeExecutor({ url: URL, timeout: 0.5 })).toThrow(/timeout must be/);
  });
});

describe("notes about the sandbox", () => {
  test("cover every component, wherever it stands", () => {
    const local = agent("LocalCommandLineCodeExecutor");
    const team = {
      provider: "RoundRobinGroupChat",
      config: { participants: [agent("SandboxCodeExecutor"), local] },
    };
    expect(
      registry()
        .notes(team, "there")
        .map(({ path }) => path),
    ).toEqual(["there.config.participants[1].config.code_executor.provider"]);
  });

  test("do not name a sandbox that no longer exists", () => {
    const tool = { provider: "FunctionTool", config: { name: "f", source_code: "def f(): pass" } };
    for (const model of [agent("LocalCommandLineCodeExecutor"), tool]) {
      expect(registry(null).notes(model)).toEqual([]);
    }
  });

  test("leave out components that cannot be loaded", () => {
    const team = {
      provider: "RoundRobinGroupChat",
      config: { participants: [{ provider: "gone", config: {} }] },
    };
    expect(registry().notes(team)).toEqual([]);
  });
});

describe("the settings of a sandbox", () => {
  test.each([
    ["nothing", {}, undefined],
    ["a key alone", { SANDBOX_KEY: "k" }, undefined],
    ["an empty address", { SANDBOX_URL: " " }, undefined],
    ["an address", { SANDBOX_URL: "https://s.example" }, { url: "https://s.example" }],
    [
      "an address and a key",
      { SANDBOX_URL: " https://s.example ", SANDBOX_KEY: "k " },
      { url: "https://s.example", apiKey: "k" },
    ],
  ])("are refused: %s", (_, settings, expected) => {
    expect(sandboxAddress(settings, { open: false })).toEqual(expected);
  });

  test("need no address and no encryption for a binding", async () => {
    const asked: string[] = [];
    const SANDBOX = {
      fetch: async (url: string) => {
        asked.push(url);
        return new Response(null, { status: 204 });
      },
    };
    for (const SANDBOX_URL of [undefined, "http://sandbox:8788"]) {
      const address = sandboxAddress(
        { ...(SANDBOX_URL && { SANDBOX_URL }), SANDBOX },
        { open: false },
      );
      await address?.fetch?.(`${address.url}/healthz`, {});
    }
    expect(asked).toEqual(["https://sandbox.internal/healthz", "http://sandbox:8788/healthz"]);
  });

  test("may use plain http on one's own machine", () => {
    expect(sandboxAddress({ SANDBOX_URL: URL }, { open: true })).toEqual({ url: URL });
    expect(() => sandboxAddress({ SANDBOX_URL: URL }, { open: false })).toThrow(
      /SANDBOX_URL must be .*https/,
    );
    const named = { open: false, exact: ["http://127.0.0.1:8788"] };
    expect(sandboxAddress({ SANDBOX_URL: "http://127.0.0.1:8788" }, named)).toBeDefined();
    expect(() => sandboxAddress({ SANDBOX_URL: "http://127.0.0.1:8789" }, named)).toThrow(
      /or ALLOWED_EGRESS names it with its port: "http:\/\/127\.0\.0\.1:8789"/,
    );
    const beside = { SANDBOX_URL: "http://127.0.0.1:8788", TROUPE_FRONT_KEY: "k" };
    expect(sandboxAddress(beside, { open: false })).toBeDefined();
    const elsewhere = { ...beside, SANDBOX_URL: "http://10.0.0.5:8788" };
    expect(() => sandboxAddress(elsewhere, { open: false })).toThrow(/SANDBOX_URL must be .*https/);
    const metadata = { SANDBOX_URL: "https://169.254.169.254" };
    expect(() => sandboxAddress(metadata, { open: true })).toThrow(/SANDBOX_URL .*metadata/);
    expect(() => sandboxAddress({ SANDBOX_URL: "sandbox:" }, { open: true })).toThrow(
      /SANDBOX_URL must be/,
    );
    expect(() => sandboxAddress({ SANDBOX_URL: "nowhere" }, { open: true })).toThrow(
      /SANDBOX_URL must be/,
    );
  });
});
