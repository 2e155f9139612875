/** The sandbox code of a Worker with a sandbox, as one module that is imported on first use. */
export { sandboxComponents, sandboxPython } from "./components.ts";
export { SandboxScripts } from "./sandbox-scripts.ts";
export { SandboxDocuments } from "./sandbox-documents.ts";
export { SandboxClient } from "./client/sandbox-client.ts";
export { SessionFiles } from "./session-files.ts";
export { sandboxJavaScript } from "./sandbox-javascript.ts";
