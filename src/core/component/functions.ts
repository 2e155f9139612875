/** A function that component JSON can name. The key that names it defines its parameters and result. */
export type NamedFunction = (...args: never[]) => unknown;

/** Finds the functions that component JSON names. */
export interface FunctionCatalog {
  function(name: string): NamedFunction | undefined;
  functionNames(): string[];
}

/** The registered name of a function, which a component needs for its dump. */
const names = new WeakMap<NamedFunction, string>();

/** Records the name of a registered function; the first name stays. */
export function rememberName(fn: NamedFunction, name: string): void {
  if (!names.has(fn)) names.set(fn, name);
}

/** The name of a function in component JSON; undefined when it is not registered or missing. */
export function functionName(fn: NamedFunction | null | undefined): string | undefined {
  return fn ? names.get(fn) : undefined;
}
