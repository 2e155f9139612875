import type { ObjectName, PassedPoints, ResetPoint } from "./protocol.ts";

/**
 * Where single objects of this isolate are reset, which the harness asks for by requests. An object is reset as the platform
 * does it: `ctx.abort()` ends it in the middle of what it does, while the other objects and the requests of clients live.
 */
class Resets {
  readonly #armed = new Map<ObjectName, ResetPoint>();
  /** How often each object has come by each point since it was armed first. */
  readonly #counts = new Map<ObjectName, Map<string, number>>();

  arm(point: ResetPoint): void {
    this.#armed.set(point.object, point);
    this.#counts.delete(point.object);
  }

  /** What the objects of a tenant have come by, and whether a point of one of them is still armed. */
  passed(tenant: string): PassedPoints {
    const isOf = (object: ObjectName): boolean =>
      object.endsWith(`:${tenant}`) || object.includes(`:${tenant}/`);
    const counts = [...this.#counts].filter(([object]) => isOf(object));
    return {
      counts: counts.flatMap(([object, labels]) =>
        Array.from(labels, ([label, count]) => ({ object, label, count })),
      ),
      armed: [...this.#armed.keys()].some(isOf),
    };
  }

  /**
   * The object has come by a point. If it is the armed one, the object is reset: with all that is not durable yet, or as soon
   * as that is durable. A caller that awaits does nothing more then.
   */
  reach(ctx: DurableObjectState, object: ObjectName, label: string): Promise<void> | undefined {
    const labels = this.#counts.get(object) ?? new Map<string, number>();
    const count = (labels.get(label) ?? 0) + 1;
    this.#counts.set(object, labels.set(label, count));
    const point = this.#armed.get(object);
    if (point?.label !== label || point.occurrence !== count) return undefined;
    this.#armed.delete(object);
    if (point.mode === "lost") ctx.abort(REASON);
    return ctx.storage.sync().then(() => ctx.abort(REASON));
  }
}

const REASON = "The harness has reset the object.";

export const resets = new Resets();

export function objectName(type: string, ctx: DurableObjectState): ObjectName {
  return `${type}:${ctx.id.name ?? ""}`;
}

/** Counts the calls of a class of objects, which are reset when a call arrives or when its result is about to be sent. */
export function countCalls(type: string, { prototype }: { prototype: object }): void {
  for (const [name, call] of callsOf(prototype)) {
    Object.defineProperty(prototype, name, {
      async value(this: object, ...given: unknown[]): Promise<unknown> {
        const ctx = Reflect.get(this, "ctx") as DurableObjectState;
        const object = objectName(type, ctx);
        await resets.reach(ctx, object, `call ${name}`);
        const result: unknown = await Reflect.apply(call, this, given);
        await resets.reach(ctx, object, `end ${name}`);
        return result;
      },
    });
  }
}

type Call = (...given: unknown[]) => unknown;

/** The methods that other objects and the Worker call. */
function* callsOf(prototype: object): Generator<[name: string, call: Call], void, void> {
  for (
    let at: unknown = prototype;
    typeof at === "object" && at !== null;
    at = Object.getPrototypeOf(at)
  ) {
    for (const [name, { value, writable }] of Object.entries(
      Object.getOwnPropertyDescriptors(at),
    )) {
      // Those of RPC are defined, not declared: a class may not change them.
      const isCalled = name === "fetch" || writable === false;
      if (isCalled && typeof value === "function") yield [name, value as Call];
    }
  }
}
