import { AsyncLocalStorage } from "node:async_hooks";

/** A call of a function of ours, and the call that it came from. */
export interface Call {
  file: string;
  name: string;
  caller: Call | undefined;
}

const running = new AsyncLocalStorage<Call>();

let calls: Call[] = [];

/** All calls since the last time. */
export function takeCalls(): Call[] {
  const taken = calls;
  calls = [];
  return taken;
}

export function runningCall(): Call | undefined {
  return running.getStore();
}

/** Runs a function as if `caller` called it. A stub, for one, does not pass on who calls the object. */
export function calledBy<T>(caller: Call | undefined, run: () => T): T {
  return caller === undefined ? run() : running.run(caller, run);
}

/** Each function of the instrumented bundle calls it with its body. */
export function enterFunction<T>(file: string, name: string, body: () => T): T {
  return running.run(noteCall(file, name), body);
}

/** The same for generators, whose bodies run later: they belong to the call that has made them. */
export function enterGenerator<T extends Generator | AsyncGenerator>(
  file: string,
  name: string,
  body: () => T,
): T {
  const call = noteCall(file, name);
  const generator = body();
  const noted = Object.create(Object.getPrototypeOf(generator) as object) as T;
  const step =
    (kind: "next" | "return" | "throw") =>
    (...given: unknown[]): unknown =>
      running.run(call, () => Reflect.apply(generator[kind], generator, given));
  const itself = (): T => noted;
  return Object.assign(noted, {
    next: step("next"),
    return: step("return"),
    throw: step("throw"),
    [Symbol.iterator]: itself,
    [Symbol.asyncIterator]: itself,
  });
}

function noteCall(file: string, name: string): Call {
  const call = { file, name, caller: running.getStore() };
  calls.push(call);
  return call;
}
