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

/** Where the Python functions of component JSON run: `coreComponents(catalog, sandboxPython({ url, apiKey }))`. */
export function sandboxPython(sandbox: SandboxAddress): PythonHost {
  return { executor: (options) => new SandboxCodeExecutor({ ...sandbox, ...options }) };
}
