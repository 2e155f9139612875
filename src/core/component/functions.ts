/** A function that component JSON may name. What it takes and returns is said by the key that names it. */
export type NamedFunction = (...args: never[]) => unknown;

/** Where component JSON finds the functions it names. */
export interface FunctionCatalog {
  function(name: string): NamedFunction | undefined;
  functionNames(): string[];
}

/** A function cannot say under which name it was registered; a component that holds it must know, to dump it. */
const names = new WeakMap<NamedFunction, string>();

/** Notes under which name a function was registered; the first name stays. */
export function rememberName(fn: NamedFunction, name: string): void {
  if (!names.has(fn)) names.set(fn, name);
}

/** What component JSON calls a function; undefined when it was not registered, or there is none. */
export function functionName(fn: NamedFunction | null | undefined): string | undefined {
  return fn ? names.get(fn) : undefined;
}
