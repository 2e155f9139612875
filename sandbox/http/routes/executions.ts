import { createHash } from "node:crypto";
import { invalid, ProblemError } from "../../problem.ts";
import { Execution, type ExecutionRequest } from "../../sessions/execution.ts";
import type { ExecutionResult, Keyed } from "../../sessions/manifest.ts";
import { readJson } from "../body.ts";
import { type Call, type Endpoint, json } from "../endpoint.ts";
import { executionEvents, recordedEvents, wantsEvents } from "../event-stream.ts";
import { executeSchema, keyPattern } from "../schemas.ts";
import type { Services } from "../services.ts";

export function executionEndpoints({ sessions, settings, problemOf }: Services): Endpoint[] {
  const body = executeSchema(settings);

  async function read({ request }: Call): Promise<ExecutionRequest> {
    const parsed = body.safeParse(await readJson(request, settings.maxBodyBytes));
    if (!parsed.success)
      throw invalid(
        "invalid_body",
        "The body is not a valid request to execute code.",
        parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })),
      );
    const { code_blocks: blocks, timeout_seconds: seconds, env, folders } = parsed.data;
    return {
      blocks,
      env,
      folders,
      timeoutMs: seconds * 1000,
      keyed: keyedOf(request, parsed.data),
    };
  }

  return [
    {
      method: "post",
      path: "/v1/sessions/:session/execute",
      id: "execute",
      summary: "Run blocks of code",
      body,
      idempotent: true,
      answers: {
        200: {
          description:
            "The result, also of code that fails. As events: `output` with {text}, `waiting` with {reason} and `running`, last `result` or `error`.",
          schema: "Result",
          media: "text/event-stream",
        },
      },
      problems: [409, 422, 429, 503],
      async handle(call) {
        const session = call.session();
        const request = await read(call);
        const found = await sessions.execute(session, request);
        if (!(found instanceof Execution))
          return wantsEvents(call.request) ? recordedEvents(found) : json(found);
        // Without a key the client cannot ask for the result again.
        if (request.keyed === undefined) onAbort(call.gone, () => found.cancel());
        if (wantsEvents(call.request)) return executionEvents(found, problemOf);
        return json(await Promise.race([found.result, whenGone(call.gone)]));
      },
    },
    {
      method: "delete",
      path: "/v1/sessions/:session/executions/:key",
      id: "cancelExecution",
      summary:
        "Cancel an execution that runs or waits. Its result says so and is not recorded; its files are discarded",
      answers: { 204: { description: "The execution has ended." } },
      problems: [404, 422],
      async handle(call) {
        if (await sessions.cancel(call.session(), call.key()))
          return new Response(null, { status: 204 });
        throw new ProblemError(
          404,
          "no_such_execution",
          "No execution with this key runs or waits.",
        );
      },
    },
  ];
}

/** A key that was replaced by a new one makes no other request, and nothing about its value is stored. */
function keyedOf(
  request: Request,
  { env, ...body }: { env?: Readonly<Record<string, string>> | undefined },
): Keyed | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!keyPattern.test(key))
    throw invalid("invalid_key", "Idempotency-Key is invalid.", [
      { path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" },
    ]);
  const text = JSON.stringify(env ? { ...body, env: Object.keys(env).toSorted() } : body);
  return { key, fingerprint: createHash("sha256").update(text).digest("hex") };
}

function onAbort(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action();
  else signal.addEventListener("abort", action, { once: true });
}

/** Rejects when the client disconnects. */
function whenGone(gone: AbortSignal): Promise<ExecutionResult> {
  return new Promise((_, reject) => {
    onAbort(gone, () =>
      reject(new ProblemError(499, "client_gone", "The client has disconnected.")),
    );
  });
}
