import * as fc from "fast-check";
import { faultOf } from "./check.ts";
import { operationsOf } from "./operations.ts";
import { type FuzzRequest, requests } from "./requests.ts";
import { FuzzTarget } from "./target.ts";

export interface FuzzOptions {
  seed: number;
  /** How long requests are sent. */
  milliseconds: number;
}

export interface FuzzReport {
  requests: number;
  /** How often each status came back. */
  statuses: Map<number, number>;
  /** The smallest request that was answered badly, and how; undefined when none was. */
  failure: string | undefined;
}

/** Sends requests made from the OpenAPI document until one is answered badly or the time is over. */
export async function fuzz({ seed, milliseconds }: FuzzOptions): Promise<FuzzReport> {
  await using target = await FuzzTarget.start();
  const operations = operationsOf(await target.json("/v1/openapi.json"));
  const component = await target.componentSchema();
  const statuses = new Map<number, number>();
  const property = fc.asyncProperty(requests(operations, component), async (request) => {
    const answer = await target.ask(request);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const fault = faultOf(request.operation, answer);
    if (fault !== undefined) throw new Error(`${fault}: ${answer.body.slice(0, 2_000)}`);
  });
  const result = await fc.check(property, {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: milliseconds,
    markInterruptAsFailure: false,
  });
  return {
    requests: [...statuses.values()].reduce((sum, count) => sum + count, 0),
    statuses,
    failure: result.failed
      ? `${describe(result.counterexample?.[0])}\n${String(result.errorInstance)}`
      : undefined,
  };
}

function describe(request: FuzzRequest | undefined): string {
  if (request === undefined) return "no request";
  const { operation, ids, query, headers, body } = request;
  return [
    `${operation.method} ${operation.path}`,
    `ids ${JSON.stringify(ids)} query ${JSON.stringify(query)}`,
    `headers ${JSON.stringify(headers)}`,
    `body ${body === undefined ? "none" : typeof body === "string" ? body.slice(0, 2_000) : `bytes ${Array.from(body).join(" ")}`}`,
  ].join("\n");
}
