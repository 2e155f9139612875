/** A module of its own, so that a bundle has the SDK without its resources, though it is imported dynamically. */
export { BaseAnthropic } from "@anthropic-ai/sdk/client";
