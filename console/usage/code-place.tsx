import type { Health } from "troupe/client";
import { useLoaded } from "../hooks/use-loaded.ts";
import { codeText } from "./code-text.ts";

async function loadHealth(): Promise<Health> {
  const response = await fetch("/healthz");
  return (await response.json()) as Health;
}

/** The place in which the server runs the code of agents and tools. */
export function CodePlace() {
  const { value } = useLoaded(loadHealth);
  return value && <p className="muted">{codeText(value)}</p>;
}
