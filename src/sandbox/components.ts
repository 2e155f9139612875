import type { AnyComponentDefinition } from "../core/component/component.ts";
import { autoGenExecutors } from "./autogen-executors.ts";
import type { PythonHost } from "../core/python/python-host.ts";
import type { SandboxAddress } from "./sandbox-connection.ts";
import { SandboxCodeExecutor, sandboxExecutorDefinition } from "./sandbox-code-executor.ts";

/**
 * Components that run code: the sandbox's executor, and AutoGen's executors under their own names.
 *
 * @param sandbox undefined when there is none: the components are then known, but cannot be loaded
 */
export function sandboxComponents(sandbox: SandboxAddress | undefined): AnyComponentDefinition[] {
  return [sandboxExecutorDefinition(sandbox), ...autoGenExecutors(sandbox)];
}

/**
 * Runs the Python functions of component JSON in a sandbox: `coreComponents(catalog, sandboxPython({ url, apiKey }))`.
 *
 * @param options `session`: the session of all functions, which share its files. Default: the session of the team, in a Durable
 * Object; elsewhere each function has a session of its own
 */
export function sandboxPython(
  sandbox: SandboxAddress,
  { session }: { session?: string } = {},
): PythonHost {
  return {
    executor: () => new SandboxCodeExecutor({ ...sandbox, session }),
    scratch: (timeout) => new SandboxCodeExecutor({ ...sandbox, timeout }),
  };
}
