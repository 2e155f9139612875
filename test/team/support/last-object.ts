/** The object that was made last, for agents that end it while it runs them. */
export const lastObject: { state: DurableObjectState | undefined } = { state: undefined };
