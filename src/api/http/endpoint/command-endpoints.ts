import type * as z from "zod";
import type { Command } from "../../../contract/commands/command.ts";
import type { QueryLimits } from "../../../contract/query-parameters.ts";
import type { Result } from "../../../contract/result.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { type CheckedRequest, type Endpoint, json } from "./endpoint.ts";
import { unwrap } from "./problem.ts";
import { type Services, tenantOf } from "./services.ts";

/** The handlers of the commands that no object carries out by itself. */
type RouteHandlers<Table> = {
  [Name in keyof Table as Table[Name] extends { object: string } ? never : Name]: (
    call: CallOf<Table[Name]>,
  ) => Promise<Response>;
};

/** A request of a command, checked. */
type CallOf<Spec> = CheckedRequest<
  Spec extends { body: infer Body extends z.ZodType } ? Body : z.ZodType,
  Spec extends { query: (limits: QueryLimits) => infer Query extends z.ZodObject }
    ? Query
    : z.ZodObject
>;

/** The endpoints of a table of commands. */
export function commandEndpoints<Table extends { readonly [name: string]: Command }>(
  table: Table,
  services: Services,
  handlers: RouteHandlers<Table>,
): Endpoint[] {
  const own = handlers as { readonly [name: string]: Endpoint["handle"] };
  return Object.entries(table).map(([name, command]) => {
    const { query, object: _, id = name, ...described } = command;
    return {
      ...described,
      id,
      ...(query && { query: query(services.limits) }),
      handle: own[name] ?? callObject(name, command, services),
    };
  });
}

/** Calls the object of a command, and answers with what it gives. */
function callObject(
  name: string,
  { path, object, body, query, idempotent, answers }: Command,
  services: Services,
): Endpoint["handle"] {
  const names = parameterNames(path);
  const parameters = names.filter((one) => one !== "team" && one !== "tenant");
  const [answer] = Object.entries(answers);
  if (answer === undefined) throw new TypeError(`the command ${name} has no answer`);
  const [status, { schema, location }] = answer;
  // An empty body is not passed to the command.
  const takesBody = body !== undefined && !isEmpty(body);
  return async (call) => {
    const { principal } = call;
    const tenant = names.includes("tenant") ? call.param("tenant") : principal.tenant;
    const target = object === "team" ? call.team : tenantOf(services, tenant);
    const args: unknown[] = parameters.map(call.param);
    if (takesBody) args.push(call.body);
    if (query) args.push(call.query);
    if (idempotent) args.push(call.idempotency);
    const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<Result<unknown>>;
    // Not method.apply: a method of a stub has methods of its own.
    const value = unwrap(await Reflect.apply(method, target, args));
    if (schema === undefined) return new Response(null, { status: Number(status) });
    const headers = typeof location === "function" && { location: location(value as RunInfo) };
    return json(value, Number(status), headers || {});
  };
}

function parameterNames(path: string): string[] {
  return Array.from(path.matchAll(/(?<=\/):(\w+)/g), ([, name = ""]) => name);
}

function isEmpty(body: z.ZodType): boolean {
  return "shape" in body && Object.keys(body.shape as object).length === 0;
}
