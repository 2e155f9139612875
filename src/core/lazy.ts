/**
 * Makes a value when it is first asked for, and keeps it: schemas of modules that every start of the Worker runs.
 *
 * @example
 * const querySchema = lazy(() => z.object({ limit: z.number() }));
 * querySchema().parse(query);
 */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
