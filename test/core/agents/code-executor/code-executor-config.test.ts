import { describe, expect, test } from "vitest";
import {
  Catalog,
  CodeExecutorAgent,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  run,
} from "troupe";
import type { JsonObject, Question } from "troupe";
import { TestCodeExecutor } from "../../support/code-executor.ts";

const executor = { provider: "test.TestCodeExecutor", config: {} };
const model = (structured_output: boolean) => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: {
    chat_completions: ["hi"],
    model_info: {
      vision: false,
      function_calling: false,
      json_output: false,
      family: "unknown",
      structured_output,
    },
  },
});

const catalog = new Catalog();
catalog.registerFunction("never", () => ({ approved: false, reason: "never" }));
const registry = new ComponentRegistry({ functions: catalog }).register(
  ...coreComponents(catalog),
  TestCodeExecutor.component,
);

const component = (config: JsonObject) => ({
  provider: "autogen_agentchat.agents.CodeExecutorAgent",
  config: { name: "runner", code_executor: executor, ...config },
});
const load = (config: JsonObject = {}) =>
  registry.load<CodeExecutorAgent>(component(config), "agent");

describe("component JSON of an executor", () => {
  test("gets AutoGen's defaults", () => {
    const { config } = dumpComponent(load());
    expect(config).toEqual({
      name: "runner",
      code_executor: dumpComponent(new TestCodeExecutor()),
      description: expect.stringContaining("Markdown"),
      model_client_stream: false,
      model_context: expect.objectContaining({
        provider: "autogen_core.model_context.UnboundedChatCompletionContext",
      }),
      supported_languages: ["python", "sh"],
    });
    const coder = load({ model_client: model(false) });
    expect(coder.description).not.toBe(config["description"]);
    expect(dumpComponent(coder).config).not.toHaveProperty("system_message");
  });

  test("is dumped as it was loaded, Troupe's keys included", () => {
    const full = dumpComponent(
      load({
        model_client: model(true),
        description: "d",
        sources: [],
        system_message: "s",
        model_client_stream: true,
        supported_languages: ["sh"],
        max_retries_on_error: 2,
        executor_prompts: { retry: "again after {output}?" },
        approval_func: "never",
      }),
    );
    expect(full.config).toMatchObject({
      sources: [],
      max_retries_on_error: 2,
      executor_prompts: { retry: "again after {output}?" },
      approval_func: "never",
    });
    expect(dumpComponent(registry.load(full))).toEqual(full);
  });

  test("names the function that approves", async () => {
    const { messages } = await run(load({ approval_func: "never" }), { task: "```sh\nls\n```" });
    expect(messages.at(-1)).toMatchObject({
      content: "Code execution was not approved. Reason: never",
    });
  });

  test("asks a human", async () => {
    const asking = { approval: "human", approval_timeout_seconds: 60 } as const;
    const dumped = dumpComponent(load(asking));
    expect(dumped.config).toMatchObject(asking);
    const agent = registry.load<CodeExecutorAgent>(dumped, "agent");
    const questions: Question[] = [];
    const { messages } = await run(agent, {
      task: "```sh\nls\n```",
      answer: (question) => {
        questions.push(question);
        return Promise.resolve({ approved: false, reason: "not now" });
      },
    });
    expect(questions).toMatchObject([{ kind: "approval", source: "runner", timeoutSeconds: 60 }]);
    expect(messages.at(-1)).toMatchObject({
      content: "Code execution was not approved. Reason: not now",
    });
  });

  test("is not written for an agent whose approval would be lost", () => {
    const agent = new CodeExecutorAgent({
      name: "runner",
      codeExecutor: new TestCodeExecutor(),
      approvalFunc: () => ({ approved: true, reason: "" }),
    });
    expect(() => dumpComponent(agent)).toThrow(
      expect.objectContaining({ code: "not_serializable" }),
    );
  });

  test.each<[what: string, config: JsonObject, path: string]>([
    ["no executor", { code_executor: null }, "code_executor"],
    ["a model as executor", { code_executor: model(true) }, "code_executor.provider"],
    [
      "an unknown executor",
      { code_executor: { provider: "autogen_ext.code_executors.Other", config: {} } },
      "code_executor.provider",
    ],
    ["retries without a model", { max_retries_on_error: 1 }, "max_retries_on_error"],
    [
      "retries with a model that cannot decide about them",
      { max_retries_on_error: 1, model_client: model(false) },
      "max_retries_on_error",
    ],
    ["fewer retries than none", { max_retries_on_error: -1 }, "max_retries_on_error"],
    [
      "a prompt over something else",
      { executor_prompts: { retry: "{code}" } },
      "executor_prompts.retry",
    ],
    [
      "a prompt that is not a format",
      { executor_prompts: { error_output: "{output" } },
      "executor_prompts.error_output",
    ],
    ["an unregistered approval", { approval_func: "nevr" }, "approval_func"],
    ["an approval that is not a human", { approval: "me" }, "approval"],
    ["two approvals", { approval: "human", approval_func: "never" }, "approval"],
    [
      "a time for an approval that is not requested",
      { approval_timeout_seconds: 5 },
      "approval_timeout_seconds",
    ],
  ])("that has %s is refused, and the field is named", (_what, config, path) => {
    expect(registry.validate(component(config)).map((issue) => issue.path)).toEqual([
      `component.config.${path}`,
    ]);
  });

  test("names the missing part of an executor that is not provided", () => {
    const code_executor = {
      provider: "autogen_ext.code_executors.local.LocalCommandLineCodeExecutor",
      config: {},
    };
    expect(() => load({ code_executor })).toThrow(
      expect.objectContaining({ kind: "unknown_provider" }),
    );
  });
});
