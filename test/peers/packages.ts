import { join } from "node:path";

/** Where the packages of other makers are installed. */
export const PEER_PACKAGES = join(import.meta.dirname, "node_modules");
