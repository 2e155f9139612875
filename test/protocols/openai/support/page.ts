import { converse } from "./converse.ts";

Object.assign(globalThis, { converse });
