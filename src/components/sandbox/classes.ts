// A class of a component is named here only, as in core/registry/basic-classes.ts.
export { SandboxCodeExecutor, type SandboxCodeExecutorOptions } from "./sandbox-code-executor.ts";
