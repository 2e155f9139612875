import * as fc from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The seed of all properties; vitest.config.ts sets it. */
    propertySeed: number;
  }
}

// The same cases in each run: a failure is one of what was changed.
fc.configureGlobal({ seed: inject("propertySeed") });
