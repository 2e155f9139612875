import type { AnyComponentDefinition } from "../../core/component/component.ts";
import { componentsFor } from "../../core/registry/component-classes.ts";
import { autoGenExecutors } from "./autogen-executors.ts";
import * as classes from "./classes.ts";
import type { PythonHost } from "../../core/python/python-host.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { environmentNotes } from "./environment.ts";
import { type ExecutorDependencies, SandboxCodeExecutor } from "./sandbox-code-executor.ts";

/**
 * Components that run code: the sandbox's executor, and AutoGen's executors under their own names.
 *
 * @param sandbox undefined when there is none: the components are then known, but cannot be loaded
 * @param dependencies secrets for the environment of code. Default: those of the process
 */
export function sandboxComponents(
  sandbox: SandboxAddress | undefined,
  dependencies: Omit<ExecutorDependencies, "sandbox"> = {},
): AnyComponentDefinition[] {
  const needs = { ...dependencies, sandbox };
  return [...componentsFor(classes, needs), ...autoGenExecutors(needs)];
}

/**
 * Runs the Python functions of component JSON in a sandbox: `coreComponents(catalog, sandboxPython({ url, apiKey }))`.
 *
 * @param options `session`: the session of all functions, which share its files. Default: the session of the team, in a Durable
 * Object; elsewhere each function has a session of its own
 * @param dependencies secrets for the environment of functions. Default: those of the process
 */
export function sandboxPython(
  sandbox: SandboxAddress,
  { session }: { session?: string } = {},
  dependencies: OutgoingDependencies = {},
): PythonHost {
  return {
    executor: (env) => new SandboxCodeExecutor({ ...sandbox, session, env }, dependencies),
    environmentNotes: (env) => environmentNotes(env, sandbox, dependencies),
    scratch: (timeout) => new SandboxCodeExecutor({ ...sandbox, timeout }),
  };
}
