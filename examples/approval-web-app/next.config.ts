import type { NextConfig } from "next";

// The folder has packages of its own, which Next would otherwise look for in the clone around it.
export default { turbopack: { root: import.meta.dirname } } satisfies NextConfig;
