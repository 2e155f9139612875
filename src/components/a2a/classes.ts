// A class of a component is named here only, as in core/registry/basic-classes.ts.
export { A2AAgent } from "./a2a-agent.ts";
export type { A2AAgentOptions } from "./config.ts";
