import type { Template } from "../../core/component/template.ts";

/** An agent that runs the code it finds in messages. Needs no model. */
export function codeRunner({ sandbox }: { sandbox: boolean }): Template {
  const needs = sandbox
    ? "Works without a model."
    : "Needs a sandbox, and this server has none: set SANDBOX_URL.";
  return {
    name: "code_runner",
    description: `Runs the Python and shell code in your messages in a sandbox and shows the output. Files are kept for the next message. ${needs}`,
    task: '```python\nimport time\n\nfor n in range(3, 0, -1):\n    print(n, flush=True)\n    time.sleep(0.5)\nprint("Go! 6 * 7 is", 6 * 7)\n```',
    component: {
      provider: "autogen_agentchat.agents.CodeExecutorAgent",
      component_type: "agent",
      version: 1,
      component_version: 1,
      config: {
        name: "code_runner",
        description: "Runs the code in fenced Markdown blocks of messages.",
        code_executor: {
          provider: "troupe.code_executors.SandboxCodeExecutor",
          component_type: "code_executor",
          version: 1,
          component_version: 1,
          config: { timeout: 60 },
        },
        // Output is shown while the code runs.
        model_client_stream: true,
        supported_languages: ["python", "py", "sh", "bash", "shell"],
        executor_prompts: {
          no_code_blocks:
            "There is no code in this message. Put it into a fenced block that names its language:\n\n```python\nprint(6 * 7)\n```",
        },
      },
    },
  };
}
