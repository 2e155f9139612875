import type { JsonObject } from "#core/json.ts";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { speaker } from "../../client/support/speaker.ts";
import { TestWorker } from "../../support/worker.ts";

export const KEY = "key-of-the-tests";

const MODELS = "https://models.example.com";

/** An agent whose replies stream from the model server of the test. */
export const SPEAKER = speaker(`${MODELS}/v1`);

/** A team that asks a human once. */
export const HUMAN: JsonObject = {
  provider: "RoundRobinGroupChat",
  config: {
    participants: [{ provider: "UserProxyAgent", config: { name: "human" } }],
    max_turns: 1,
  },
};

/** The service as it is deployed: it wants a key, and a page's origin must be allowed. */
export async function startServer(pages: string, models: string): Promise<TestWorker> {
  const key = { hash: await sha256Hex(KEY), tenant: "acme", scopes: SCOPES };
  const settings = {
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_EGRESS: new URL(MODELS).host,
    ALLOWED_ORIGINS: pages,
    API_KEYS: JSON.stringify([key]),
    TENANT_REQUESTS_PER_SECOND: "1000",
    TENANT_RUNS_PER_MINUTE: "1000",
  };
  // A deployed Worker sends nothing to this machine.
  const outgoing = async ({ url, method, headers, body }: Request): Promise<Response> =>
    fetch(new URL(new URL(url).pathname, models), {
      method,
      headers: [...headers],
      body,
      duplex: "half",
    });
  return TestWorker.start(settings, { outgoing });
}
