import { setTimeout as wait } from "node:timers/promises";
import { ApiError, type CreatedKey, type Health, TroupeClient } from "../../client/index.ts";
import { SCOPES } from "../../contract/constants.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

/** The longest time until a new address answers, and until secrets arrive. */
const PATIENCE_MS = 180_000;
const PAUSE_MS = 1_000;

/** An agent that needs no model. */
const AGENT = {
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "check",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: ["It works."] },
    },
  },
};

/** The answer of `/healthz`, once there is one. @throws CliError */
export async function waitForHealth(url: string): Promise<Health> {
  return eventually(`${url}/healthz`, async () => {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) });
    const body = await response.text();
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return JSON.parse(body) as Health;
  });
}

/** A client that acts as the operator in a tenant. */
export function operatorClient(url: string, key: string, tenant: string): TroupeClient {
  return new TroupeClient({
    baseURL: url,
    token: key,
    fetch: (request) => {
      request.headers.set("troupe-tenant", tenant);
      return fetch(request);
    },
  });
}

/** Makes a key with all scopes, once the secrets of the deployment have arrived. @throws CliError */
export async function makeFirstKey(client: TroupeClient, url: string): Promise<CreatedKey> {
  return eventually(url, () =>
    client.keys.create({ name: "made by troupe deploy", scopes: [...SCOPES] }),
  );
}

/** Creates a team, runs it and deletes it. @throws CliError */
export async function checkFirstRun(client: TroupeClient, url: string): Promise<void> {
  const team = await eventually(url, () =>
    client.teams.create({ component: AGENT, label: "Check of troupe deploy" }),
  );
  try {
    await team.run("Does it work?").result();
  } catch (error) {
    throw new CliError(`The first run at ${url} did not complete: ${(error as Error).message}`, {
      exitCode: EXIT.failed,
      code: "first_run_failed",
    });
  } finally {
    await team.delete();
  }
}

/** Repeats what a deployment that is still under way refuses. @throws CliError */
async function eventually<T>(url: string, attempt: () => Promise<T>): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isFinal = error instanceof ApiError && ![401, 404, 503].includes(error.status);
      if (isFinal || Date.now() > end) {
        throw new CliError(
          `The Worker was deployed, but ${url} does not answer as expected: ${(error as Error).message}.`,
          { exitCode: EXIT.unreachable, code: "no_answer" },
        );
      }
    }
    await wait(PAUSE_MS);
  }
}
