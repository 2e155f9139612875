export interface Participant {
  name: string;
  description: string;
  provider: string;
  /** The participants of an inner team. */
  participants: readonly Participant[];
}

type Part = { readonly provider?: unknown; readonly config?: unknown };

/** The participants of a team, or the component itself if it is an agent. @param component as the API shows it */
export function participantsOf(component: Part): Participant[] {
  const inner = membersOf(component);
  return inner.length > 0 ? inner : [participantOf(component)];
}

function membersOf({ config }: Part): Participant[] {
  const { participants, team } = (config ?? {}) as { participants?: unknown; team?: unknown };
  if (Array.isArray(participants)) return participants.map((part) => participantOf(part as Part));
  // A SocietyOfMindAgent contains a team.
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

/** Agents whose messages are output of code: code executors without a model. */
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

/** The name under which the manager of a team speaks; undefined for managers that only choose who speaks. */
export function managerOf(component: Part | undefined): string | undefined {
  const provider = component?.provider;
  return typeof provider === "string" && /(^|\.)MagenticOneGroupChat$/.test(provider)
    ? "MagenticOneOrchestrator"
    : undefined;
}
