import { resolve } from "node:path";

/** The runtime, in the version that the project is tested with. */
export const WORKERD = resolve(import.meta.dirname, "../../node_modules/.bin/workerd");
