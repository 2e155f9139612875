import { env } from "cloudflare:workers";

const { EFFECTS_URL } = env as unknown as { EFFECTS_URL: string };

/** Has an effect in the outside world: the harness counts it by its key. */
export async function effect(name: string, key: string): Promise<string> {
  const response = await fetch(EFFECTS_URL, {
    method: "POST",
    headers: { "idempotency-key": key },
    body: name,
  });
  if (!response.ok) throw new Error(`the effect ${name} failed with ${response.status}`);
  return response.text();
}
