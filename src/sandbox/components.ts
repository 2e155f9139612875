import type { AnyComponentDefinition } from "../core/component/component.ts";
import { autoGenExecutors } from "./autogen-executors.ts";
import type { PythonHost } from "../core/python/python-host.ts";
import type { SandboxAddress } from "./sandbox-client.ts";
import { SandboxCodeExecutor, sandboxExecutorDefinition } from "./sandbox-code-executor.ts";

/**
 * What runs code, as components: the sandbox's executor, and AutoGen's under their names, which do the same.
 *
 * @param sandbox undefined where there is none: then they are known and cannot be loaded
 */
export function sandboxComponents(sandbox: SandboxAddress | undefined): AnyComponentDefinition[] {
  return [sandboxExecutorDefinition(sandbox), ...autoGenExecutors(sandbox)];
}

/**
 * Where the Python functions of component JSON run: `coreComponents(catalog, sandboxPython({ url, apiKey }))`.
 *
 * @param options `session`: the one that functions run in and share files by. Default: the team's, in a Durable Object;
 * elsewhere each function has one of its own
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
