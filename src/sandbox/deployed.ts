/** What a Worker with a sandbox uses of it, as one module that is imported when it is first used. */
export { sandboxComponents, sandboxPython } from "./components.ts";
export { SandboxClient } from "./sandbox-client.ts";
export { SessionFiles } from "./session-files.ts";
