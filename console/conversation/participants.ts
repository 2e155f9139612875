export interface Participant {
  name: string;
  description: string;
  provider: string;
  /** Of an inner team. */
  participants: readonly Participant[];
}

type Part = { readonly provider?: unknown; readonly config?: unknown };

/** Who takes part in a team, or the one agent that a component is. @param component as the API shows it */
export function participantsOf(component: Part): Participant[] {
  const inner = membersOf(component);
  return inner.length > 0 ? inner : [participantOf(component)];
}

function membersOf({ config }: Part): Participant[] {
  const { participants, team } = (config ?? {}) as { participants?: unknown; team?: unknown };
  if (Array.isArray(participants)) return participants.map((part) => participantOf(part as Part));
  // A society of mind has a team inside.
  return typeof team === "object" && team !== null ? membersOf(team) : [];
}

function participantOf(part: Part): Participant {
  const { name, description } = (part.config ?? {}) as { name?: unknown; description?: unknown };
  const { provider } = part;
  return {
    name: typeof name === "string" ? name : "agent",
    description: typeof description === "string" ? description : "",
    provider: typeof provider === "string" ? provider : "",
    participants: membersOf(part),
  };
}

/** Agents whose messages are what code has printed: code executors without a model. */
export function printersOf(component: Part | undefined): ReadonlySet<string> {
  const printers = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { provider, config } = value as { provider?: unknown; config?: Record<string, unknown> };
    if (typeof provider === "string" && /(^|\.)CodeExecutorAgent$/.test(provider)) {
      const { name, model_client = null } = config ?? {};
      if (typeof name === "string" && model_client === null) printers.add(name);
    }
    for (const part of Object.values(value)) visit(part);
  };
  visit(component);
  return printers;
}
