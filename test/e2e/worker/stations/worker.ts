import worker, { type Env, TeamObject as DeployedTeam } from "troupe/worker";
import { type Call, calledBy, runningCall, takeCalls } from "./calls.ts";

export { MemoryObject, TenantObject } from "troupe/worker";

// The deployed Worker: GET /way answers with the calls that the last request to a model came through.

let way:
  | { calls: { file: string; name: string }[]; files: string[]; helpers: string[] }
  | undefined;
/** The calls of the last run up to the request to its model. */
let before: Call[] = [];
const ROUTER = "src/api/http/app.ts";
/** What the tenant lists is delivered by a timer of its own, which may be earlier than the request to the model. */
const DELIVERY = "Outbox.deliver";

/** What has called the last stub of a team. */
let atStub: Call | undefined;
/** The same for all requests: the service is composed once for its bindings. */
let instrumented: Env | undefined;

const send = globalThis.fetch;
globalThis.fetch = (...request) => {
  const [input] = request;
  const url = input instanceof Request ? input.url : input.toString();
  if (url.endsWith("/chat/completions")) way = wayOf(runningCall());
  return send(...request);
};

function wayOf(last: Call | undefined): typeof way {
  const onTheWay = lineOf(last);
  before = takeCalls();
  const calls = before.filter((call) => lineOf(call)[0] === onTheWay[0] && isOfRun(call));
  const files = [...new Set(calls.map(({ file }) => file))].toSorted();
  const callers = new Set(
    calls.flatMap(({ file, caller }) => (caller?.file === file ? [] : caller?.file)),
  );
  return {
    calls: onTheWay.map(({ file, name }) => ({ file, name })),
    files: files.filter((file) => callers.has(file)),
    helpers: files.filter((file) => !callers.has(file)),
  };
}

/** Whether the router has led to the call. */
function isOfRun(call: Call): boolean {
  const line = lineOf(call);
  return line.some(({ file }) => file === ROUTER) && !line.some(({ name }) => name === DELIVERY);
}

/** How often functions of other files were called, by the file that calls and the function. */
function entriesOf(calls: readonly Call[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const call of calls.filter(isOfRun)) {
    const { file, name, caller } = call;
    if (caller === undefined || caller.file === file) continue;
    const entry = `${caller.file} > ${file} ${name}`;
    counted[entry] = (counted[entry] ?? 0) + 1;
  }
  return counted;
}

/** A call after those that it came from. */
function lineOf(call: Call | undefined): Call[] {
  return call === undefined ? [] : [...lineOf(call.caller), call];
}

export class TeamObject extends DeployedTeam {
  override fetch(request: Request): Promise<Response> {
    return calledBy(atStub, async () => (await super.fetch?.(request)) ?? Response.error());
  }
}

/** The namespace of the teams, whose stubs note who calls them. */
function noted(namespace: DurableObjectNamespace): DurableObjectNamespace {
  return new Proxy(namespace, {
    get: (target, name): unknown =>
      name === "get" ? (id: DurableObjectId) => notedStub(target.get(id)) : bound(target, name),
  });
}

function notedStub(stub: DurableObjectStub): DurableObjectStub {
  return new Proxy(stub, {
    get(target, name): unknown {
      atStub = runningCall();
      return bound(target, name);
    },
  });
}

function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  if (typeof value !== "function") return value;
  return (...given: unknown[]): unknown => Reflect.apply(value, target, given);
}

export default {
  fetch(request: Request, env: Env): Promise<Response> | Response {
    if (new URL(request.url).pathname === "/way") {
      const entries = { before: entriesOf(before), all: entriesOf([...before, ...takeCalls()]) };
      return Response.json({ ...way, entries });
    }
    takeCalls();
    instrumented ??= { ...env, TEAM: noted(env.TEAM) };
    return worker.fetch(request, instrumented);
  },
};
