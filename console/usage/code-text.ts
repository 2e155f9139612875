import type { Health } from "troupe/client";

const PLACES: { readonly [Place in Health["code"]]: string } = {
  loader: "JavaScript of agents and tools runs in dynamic Workers.",
  containers: "Code of agents and tools runs in containers.",
  service: "Code of agents and tools runs in a sandbox.",
  off: "This server runs no code of agents and tools.",
};

/** A sentence about the place in which code runs, and about a sandbox that does not answer yet. */
export function codeText({ code, sandbox }: Pick<Health, "code" | "sandbox">): string {
  return sandbox === "starting" ? `${PLACES[code]} The sandbox is starting.` : PLACES[code];
}
