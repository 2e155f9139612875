/** The object that was made last. */
export const lastObject: { state: DurableObjectState | undefined } = { state: undefined };

const objects = new Map<string, DurableObjectState>();

/** Notes that an object was made. */
export function noteObject(state: DurableObjectState): void {
  lastObject.state = state;
  objects.set(state.id.toString(), state);
}

/** The state of an object as it was made last, for agents that end it while it runs them: others may have been made since. */
export function stateOf(stub: Pick<DurableObjectStub, "id">): DurableObjectState | undefined {
  return objects.get(stub.id.toString());
}
