/**
 * What an object does when its methods are called over RPC: a function for each, with the parts of the object before the
 * arguments of the call.
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

/** The stub of an object with these methods. */
export function typedStub<Methods>(
  namespace: DurableObjectNamespace,
  name: string,
): DurableObjectStub & Methods {
  return namespace.get(namespace.idFromName(name)) as DurableObjectStub & Methods;
}

/** The methods of an object, and instead of some of them what does more than to call it. */
export function remoteMethods<Methods extends object, Own extends object>(
  stub: Methods,
  own: Own,
): Omit<Methods, keyof Own> & Own {
  return new Proxy(own, {
    get: (target, name): unknown => Reflect.get(Object.hasOwn(target, name) ? target : stub, name),
  }) as Omit<Methods, keyof Own> & Own;
}
