/** Requests at the same time. */
const AT_ONCE = 4;

/** Runs an action for each item, a few at a time. Returns the errors. */
export async function each<Item>(
  items: readonly Item[],
  action: (item: Item) => Promise<unknown>,
): Promise<Error[]> {
  const errors: Error[] = [];
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await action(item);
      } catch (error) {
        errors.push(error as Error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return errors;
}
