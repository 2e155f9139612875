// A class of a component is named here only, as in core/registry/basic-classes.ts.
export type { HttpToolOptions } from "./config.ts";
export { HttpTool } from "./http-tool.ts";
