import { type Issue, StateError } from "../errors.ts";
import { below, holdsState, noPlace, takeOver } from "../state/take-over.ts";
import type { ChatStanding } from "./chat-standing.ts";
import { type GroupChatManager, loadManagerHead, managerHead } from "./group-chat-manager.ts";
import type { Thread } from "./thread.ts";

/**
 * One group chat goes on where another stood, be it of another kind. Participants are matched by name: who stays keeps
 * everything, who is new hears what is said from now on. The conversation stays; conditions, a limit of turns and a
 * manager that are not the same begin anew.
 */
export function takeOverChat(
  next: ChatStanding,
  previous: ChatStanding,
  blank: ChatStanding,
): Issue[] {
  const issues = [...previous.participants].flatMap(([name, { subject }]) => {
    const [own, none] = [next.participants.get(name), blank.participants.get(name)];
    const path = `agent_states.${name}`;
    if (own && none)
      return below(`${path}.agent_state`, takeOver(own.subject, subject, none.subject));
    return none && holdsState(subject, none.subject) ? [noPlace(path)] : [];
  });
  takeOverThread(next, previous);
  issues.push(...takeOverManager(next, previous, blank));
  next.ending.takeOver(previous.ending);
  return issues;
}

/** A manager whose thread holds only what is said to all gets no more from others. */
function takeOverThread(next: ChatStanding, previous: ChatStanding): void {
  if (!next.manager.sharedOnly || previous.manager.sharedOnly) {
    next.thread.takeOver(previous.thread);
    return;
  }
  const names = [...previous.participants.keys()];
  next.thread.replace(
    previous.thread.shared(),
    new Map(names.map((name) => [name, previous.thread.unheard(name)])),
  );
}

function takeOverManager(next: ChatStanding, previous: ChatStanding, blank: ChatStanding): Issue[] {
  const { manager, participants } = next;
  if (manager.name !== previous.manager.name) {
    readThread(manager, next.thread);
    return [];
  }
  const head = managerHead(previous.manager);
  const before = [...previous.participants.keys()];
  const gone = new Set(before.filter((name) => !participants.has(name)));
  if (manager.fits?.(head, gone) ?? true) loadManagerHead(manager, head);
  const parts = takeOver(next.managerParts, previous.managerParts, blank.managerParts);
  return below(`agent_states.${manager.name}`, parts);
}

/** A manager of another kind knows of the conversation what it makes of the thread itself. */
function readThread(manager: GroupChatManager, thread: Thread): void {
  try {
    manager.loadState({}, thread.slice());
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    manager.reset();
  }
}
