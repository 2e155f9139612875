import { runCase } from "../support/cases.ts";

Object.assign(globalThis, { runCase });
