import worker, {
  type Env,
  TeamObject as DeployedTeam,
  TenantObject as DeployedTenant,
} from "troupe/worker";

// Counts what keeps objects in memory: timers and requests that are under way, of all objects of the process. Only the runtime knows
// which of them belong to which object.

const timers = new Map<unknown, number>();
let requests = 0;

const {
  setTimeout: startTimer,
  clearTimeout: stopTimer,
  setInterval: startInterval,
  clearInterval: stopInterval,
  fetch: send,
} = globalThis;

Object.assign(globalThis, {
  setTimeout: (action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown => {
    const timer = startTimer(() => {
      timers.delete(timer);
      action(...args);
    }, ms);
    timers.set(timer, ms);
    return timer;
  },
  clearTimeout: (timer: number | null): void => {
    timers.delete(timer);
    stopTimer(timer);
  },
  setInterval: (action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown => {
    const timer = startInterval(action, ms, ...args);
    timers.set(timer, ms);
    return timer;
  },
  clearInterval: (timer: number | null): void => {
    timers.delete(timer);
    stopInterval(timer);
  },
  fetch: async (...request: Parameters<typeof fetch>): Promise<Response> => {
    requests++;
    try {
      return await send(...request);
    } finally {
      requests--;
    }
  },
});

/** How often each object was brought into memory, by its name, and the last of them. */
const starts = new Map<string, number>();
const objects = new Map<string, WeakRef<object>>();

function started({ id }: DurableObjectState, object: object): void {
  const name = id.name ?? "";
  starts.set(name, (starts.get(name) ?? 0) + 1);
  objects.set(name, new WeakRef(object));
}

/** Names of the objects that are in memory; those that the runtime has unloaded are garbage. */
function loaded(): string[] {
  (globalThis as { gc?: () => void }).gc?.();
  return [...objects].flatMap(([name, object]) => (object.deref() === undefined ? [] : [name]));
}

export class TeamObject extends DeployedTeam {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    started(ctx, this);
  }
}

export class TenantObject extends DeployedTenant {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    started(ctx, this);
  }
}

export { MemoryObject } from "troupe/worker";

/** The deployed Worker, and `/memory` beside it, which asks no object. */
export default {
  fetch(request, env) {
    if (new URL(request.url).pathname !== "/memory") return worker.fetch(request, env);
    return Response.json({
      timers: [...timers.values()],
      requests,
      starts: Object.fromEntries(starts),
      loaded: loaded(),
    });
  },
} satisfies ExportedHandler<Env>;
