import { DRAFTS } from "../team/use-draft.ts";
import type { Start, Variant } from "./variants.ts";

/** The parts of a playground that are not stored on the server. */
export interface PlaygroundDraft {
  /** The version of the team's component that the variants were made from. */
  version: number;
  /** With secrets that were typed, as in the picture's draft. */
  variants: readonly Pick<Variant, "component" | "fork">[];
  agent: number;
  task: string;
  from: Start;
}

/** The draft of a team's playground, which this tab keeps until it is closed; undefined if there is none for this version. */
export function readDraft(teamId: string, version: number): PlaygroundDraft | undefined {
  const text = sessionStorage.getItem(keyOf(teamId));
  const draft = text === null ? undefined : (JSON.parse(text) as PlaygroundDraft);
  return draft?.version === version ? draft : undefined;
}

export function writeDraft(teamId: string, draft: PlaygroundDraft): void {
  sessionStorage.setItem(keyOf(teamId), JSON.stringify(draft));
}

function keyOf(teamId: string): string {
  return `${DRAFTS}playground.${teamId}`;
}
