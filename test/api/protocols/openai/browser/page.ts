import { converse } from "../support/converse.ts";

Object.assign(globalThis, { converse });
