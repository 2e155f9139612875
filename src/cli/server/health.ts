import { get, type IncomingMessage } from "node:http";
import { text as textOf } from "node:stream/consumers";

/**
 * The result of the Worker's health check: it serves the API, something else, nothing yet, or reports an invalid setting.
 */
export type Health =
  | { state: "api" | "other" | "starting" }
  | {
      state: "misconfigured";
      /** Names the setting. */
      reason: string;
    };

/** @param url the URL of the front server */
export async function healthOf(url: string): Promise<Health> {
  try {
    const response = await answerOf(`${url}/healthz`);
    // Read to its end: workerd logs an error for a response that is cut off.
    const { status, code, detail = "" } = fields(await textOf(response));
    if (response.statusCode === 200 && status === "ok") return { state: "api" };
    // The front server's own response.
    if (code === "temporarily_unavailable") return { state: "starting" };
    if (code === "not_configured") return { state: "misconfigured", reason: detail };
    // A Worker that mounts the API below a path.
    return { state: "other" };
  } catch {
    // A reload takes longer than the timeout.
    return { state: "starting" };
  }
}

/** Asked without `fetch`, which would hold its modules in memory as long as the server runs. */
function answerOf(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, signal: AbortSignal.timeout(5_000) }, resolve).on("error", reject);
  });
}

interface Fields {
  status?: unknown;
  code?: string;
  detail?: string;
}

function fields(text: string): Fields {
  try {
    return (JSON.parse(text) ?? {}) as Fields;
  } catch {
    return {};
  }
}
