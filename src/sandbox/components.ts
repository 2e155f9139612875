import type { AnyComponentDefinition } from "../core/component/component.ts";
import { autoGenExecutors } from "./autogen-executors.ts";
import type { SandboxAddress } from "./sandbox-client.ts";
import { sandboxExecutorDefinition } from "./sandbox-code-executor.ts";

/**
 * What runs code, as components: the sandbox's executor, and AutoGen's under their names, which do the same.
 *
 * @param sandbox undefined where there is none: then they are known and cannot be loaded
 */
export function sandboxComponents(sandbox: SandboxAddress | undefined): AnyComponentDefinition[] {
  return [sandboxExecutorDefinition(sandbox), ...autoGenExecutors(sandbox)];
}
