/** The tool whose effect must not happen twice. */
export const NEVER_TOOL = "charge";
/** Tools that may be called again under the same key. */
export const RETRY_TOOLS = ["look_up", "note"];
/** The tool that a human decides about. */
export const ASK_TOOL = "pay";
