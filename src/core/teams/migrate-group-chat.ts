import { type Issue, StateError } from "../errors.ts";
import { below, holdsState, noPlace, migrateState } from "../state/migrate-state.ts";
import { loadManagerHead, managerHead, type GroupChatParts } from "./group-chat-parts.ts";
import type { GroupChatManager } from "./group-chat-manager.ts";
import type { Thread } from "./thread.ts";

/**
 * Moves the state of a group chat to the one that replaces it, even of another class. Participants are matched by name:
 * those that stay keep their state, new ones hear only later messages. The thread stays; a condition, a limit of turns
 * or a manager that differs starts fresh.
 */
export function migrateGroupChat(
  next: GroupChatParts,
  previous: GroupChatParts,
  blank: GroupChatParts,
): Issue[] {
  const issues = [...previous.participants].flatMap(([name, { subject }]) => {
    const [own, none] = [next.participants.get(name), blank.participants.get(name)];
    const path = `agent_states.${name}`;
    if (own && none)
      return below(`${path}.agent_state`, migrateState(own.subject, subject, none.subject));
    return none && holdsState(subject, none.subject) ? [noPlace(path)] : [];
  });
  migrateThread(next, previous);
  issues.push(...migrateManager(next, previous, blank));
  next.termination.continueFrom(previous.termination);
  return issues;
}

/** An orchestrator's thread has no inner events of agents, so those of another thread are dropped. */
function migrateThread(next: GroupChatParts, previous: GroupChatParts): void {
  if (!next.manager.orchestrates || previous.manager.orchestrates) {
    next.thread.continueFrom(previous.thread);
    return;
  }
  const names = [...previous.participants.keys()];
  next.thread.replace(
    previous.thread.shared(),
    new Map(names.map((name) => [name, previous.thread.unheard(name).messages])),
  );
}

function migrateManager(
  next: GroupChatParts,
  previous: GroupChatParts,
  blank: GroupChatParts,
): Issue[] {
  const { manager, participants } = next;
  if (manager.name !== previous.manager.name) {
    readThread(manager, next.thread);
    return [];
  }
  const head = managerHead(previous.manager);
  const before = [...previous.participants.keys()];
  const gone = new Set(before.filter((name) => !participants.has(name)));
  if (manager.fits?.(head, gone) ?? true) loadManagerHead(manager, head);
  const parts = migrateState(next.managerParts, previous.managerParts, blank.managerParts);
  return below(`agent_states.${manager.name}`, parts);
}

/** A manager of another class derives its state from the thread. */
function readThread(manager: GroupChatManager, thread: Thread): void {
  try {
    manager.loadState({}, thread.slice());
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    manager.reset();
  }
}
