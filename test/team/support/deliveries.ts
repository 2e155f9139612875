/** Lets a test break deliveries of memories: in the object, before they are applied or after it, before they are confirmed. */
export const deliveries = {
  fail: (_when: "before it" | "after it"): boolean => false,
};
