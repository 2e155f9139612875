import * as z from "zod";
import {
  type AnyComponentDefinition,
  type Note,
  withoutNulls,
} from "../../core/component/component.ts";
import type { JsonObject } from "../../core/json.ts";
import { retryPolicyOf, type retrySchema } from "../../core/steps/retry-config.ts";
import { noApprovalSchema } from "../../core/turn/human-approval.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import type { Variables } from "./environment.ts";
import {
  type ExecutorDependencies,
  executorNotes,
  executorOf,
  executorShape,
  SandboxCodeExecutor,
} from "./sandbox-code-executor.ts";

const text = z.string().nullish();

/**
 * AutoGen's executors by provider, with their configs. Only `timeout`, and `env` and `retry`, which AutoGen does not have, have an
 * effect here. The last one has no component JSON in AutoGen, but may be written by hand.
 */
const CONFIGS = {
  "autogen_ext.code_executors.local.LocalCommandLineCodeExecutor": z.object({
    ...executorShape,
    work_dir: text,
    functions_module: z.string().default("functions"),
    cleanup_temp_files: z.boolean().default(true),
  }),
  "autogen_ext.code_executors.docker.DockerCommandLineCodeExecutor": z.object({
    image: z.string().default("python:3-slim"),
    container_name: text,
    ...executorShape,
    work_dir: text,
    bind_dir: text,
    auto_remove: z.boolean().default(true),
    stop_container: z.boolean().default(true),
    functions_module: z.string().default("functions"),
    extra_volumes: z.record(z.string(), z.record(z.string(), z.string())).default({}),
    extra_hosts: z.record(z.string(), z.string()).default({}),
    init_command: text,
    delete_tmp_files: z.boolean().default(false),
  }),
  "autogen_ext.code_executors.jupyter.JupyterCodeExecutor": z.object({
    kernel_name: z.string().default("python3"),
    ...executorShape,
    output_dir: text,
  }),
  "autogen_ext.code_executors.docker_jupyter.DockerJupyterCodeExecutor": z.object({
    jupyter_server: z.json().optional(),
    kernel_name: z.string().default("python3"),
    ...executorShape,
    output_dir: text,
  }),
  "autogen_ext.code_executors.azure.ACADynamicSessionsCodeExecutor": z
    .object({ ...executorShape, approval: noApprovalSchema })
    .catchall(z.json()),
} as const satisfies { [provider: string]: z.ZodType<Config> };

const INSTEAD: Note = {
  path: "provider",
  message: "the code runs in the sandbox of this server, in a workspace of the team",
};

const NO_KERNEL: Note = {
  path: "provider",
  message:
    "each block runs in an interpreter of its own: files stay from block to block, variables and imports do not",
};

/** Definitions of AutoGen's executors, which run code in the sandbox. */
export function autoGenExecutors(dependencies: ExecutorDependencies): AnyComponentDefinition[] {
  const { sandbox, javascript } = dependencies;
  return Object.entries(CONFIGS).map(([provider, configSchema]) => {
    const definition: AnyComponentDefinition = {
      provider,
      componentType: "code_executor",
      role: "code_executor",
      version: 1,
      configSchema,
      fromConfig: (config: Config) =>
        executorOf(
          dependencies,
          definition,
          config,
          (given, address) => new AutoGenExecutor(definition, given, address, dependencies),
        ),
      notes: (config: Config) => [
        ...(sandbox === undefined || javascript?.blocks !== undefined ? [] : [INSTEAD]),
        ...(provider.includes("jupyter") ? [NO_KERNEL] : []),
        ...withoutEffect(config, configSchema.parse({})),
        ...executorNotes(dependencies, config),
      ],
    };
    return definition;
  });
}

interface Config {
  [key: string]: unknown;
  timeout: number;
  env?: Variables | undefined;
  retry?: z.infer<typeof retrySchema> | null | undefined;
}

/** Keys that have an effect in the sandbox. */
const EFFECTIVE: ReadonlySet<string> = new Set(["timeout", "env", "retry"]);

class AutoGenExecutor extends SandboxCodeExecutor {
  override readonly definition: AnyComponentDefinition;
  readonly #config: Config;

  constructor(
    definition: AnyComponentDefinition,
    config: Config,
    sandbox: SandboxAddress,
    dependencies: OutgoingDependencies,
  ) {
    const { timeout, env, retry } = config;
    super({ ...sandbox, timeout, env, retry: retryPolicyOf({ retry }) }, dependencies);
    this.definition = definition;
    this.#config = config;
  }

  override toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }
}

/** Notes about keys with other values than their defaults. */
function withoutEffect(config: Config, defaults: Config): Note[] {
  return Object.entries(config)
    .filter(([key, value]) => {
      const usual = JSON.stringify(defaults[key] ?? null);
      return !EFFECTIVE.has(key) && JSON.stringify(value ?? null) !== usual;
    })
    .map(([key]) => ({ path: `config.${key}`, message: "has no effect in the sandbox" }));
}
