import { storedDataError, type StoredObject } from "../contract/stored-data.ts";
import { isPassingAtOnce } from "../core/steps/passing-error.ts";

/** An object by its name, and what errors call it. */
export interface ObjectAddress {
  name: string;
  object: StoredObject;
}

export function teamNamed(tenant: string, id: string): ObjectAddress {
  return { name: `${tenant}/${id}`, object: { is: "team" } };
}

/** A tenant, or the list of all: its name has an @, as no tenant's id has. */
export function tenantNamed(name: string): ObjectAddress {
  return { name, object: name.includes("@") ? { is: "tenants" } : { is: "tenant", id: name } };
}

/** The memories of a user (`user/USER`) or of the tenant (`tenant`), or a collection (`collection/NAME`). */
export function memoriesNamed(tenant: string, name: string): ObjectAddress {
  const [kind, ...path] = name.split("/");
  const id = path.join("/");
  const object: StoredObject =
    kind === "collection"
      ? { is: "collection", id }
      : { is: "memories", user: kind === "user" ? id : null };
  return { name: `${tenant}/${name}`, object };
}

/**
 * The handlers of an object's methods when they are called over RPC: a function for each, with the parts of the object
 * before the arguments of the call.
 */
export type Handlers<Methods, Parts> = {
  [Name in keyof Methods]: Methods[Name] extends (...given: infer Given) => Promise<infer Answer>
    ? (parts: Parts, ...given: Given) => Answer | Promise<Answer>
    : never;
};

/** Gives a class of objects its methods: RPC calls only those of the prototype. */
export function addMethods<T extends object, Parts>(
  prototype: T,
  handlers: { readonly [name: string]: (parts: Parts, ...given: never[]) => unknown },
  partsOf: (object: T) => Parts,
): void {
  for (const [name, handle] of Object.entries(handlers)) {
    Object.defineProperty(prototype, name, {
      value(this: T, ...given: never[]): unknown {
        return handle(partsOf(this), ...given);
      },
    });
  }
}

/** The runtime's message about a method that the object does not have. */
const UNKNOWN_METHOD = "RPC receiver does not implement";

/** Thrown for an object that is of an earlier version, as long as not all objects are of the deployed one. */
class OtherVersionError extends Error {
  readonly retryable = true;

  constructor(method: string, cause: unknown) {
    super(`The object has an earlier version of Troupe, without the method ${method}.`, { cause });
    this.name = "OtherVersionError";
  }
}

/** Pauses before a call is repeated whose object was reset, in milliseconds. */
const PAUSES_MS = [20, 100, 400];

/** The interface of another object: its methods, and `fetch` for streams. */
export type RemoteObject<Methods> = Methods & Pick<DurableObjectStub, "fetch">;

/**
 * Calls the methods of another object, each over a stub of its own: one whose object was reset stays broken.
 *
 * @param repeatable methods that may be called twice: a call whose object was reset is repeated a few times. So is a `GET` by `fetch`
 */
export function remoteObject<Methods>(
  namespace: DurableObjectNamespace,
  { name, object }: ObjectAddress,
  repeatable: readonly (keyof Methods & string)[],
): RemoteObject<Methods> {
  const id = namespace.idFromName(name);
  const again = new Set<PropertyKey>(repeatable);
  const call = async (method: PropertyKey, given: readonly unknown[]): Promise<unknown> => {
    const [request] = given;
    const isGet = method === "fetch" && request instanceof Request && request.method === "GET";
    const pauses = isGet || again.has(method) ? PAUSES_MS : [];
    for (const pause of pauses) {
      try {
        return await attempt(method, given);
      } catch (error) {
        if (!isPassingAtOnce(error)) throw error;
        // Callers that were interrupted together do not come back together.
        await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
      }
    }
    return attempt(method, given);
  };
  const attempt = async (method: PropertyKey, given: readonly unknown[]): Promise<unknown> => {
    const stub = namespace.get(id);
    try {
      const called = Reflect.get(stub, method) as (...args: readonly unknown[]) => unknown;
      // `fetch` is refused without its object, which methods of an object do without.
      return await Reflect.apply(called, stub, given);
    } catch (error) {
      if (error instanceof Error && error.message.includes(UNKNOWN_METHOD)) {
        throw new OtherVersionError(String(method), error);
      }
      throw storedDataError(error, object);
    }
  };
  return new Proxy({} as RemoteObject<Methods>, {
    // Without `then`, so that it can be the result of a function that is async.
    get: (_, method) =>
      method === "then" ? undefined : (...given: unknown[]) => call(method, given),
  });
}

/** Methods that do more than call an object, beside the methods of that object. @param others made when one of them is called */
export function remoteMethods<Methods extends object, Own extends object>(
  others: () => Methods,
  own: Own,
): Omit<Methods, keyof Own> & Own {
  return new Proxy(own, {
    get: (target, name): unknown =>
      Reflect.get(Object.hasOwn(target, name) ? target : others(), name),
  }) as Omit<Methods, keyof Own> & Own;
}
