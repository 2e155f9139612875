import { useCallback, useEffect, useState } from "react";
import type { NotedTeam } from "troupe/client";
import { useNotices } from "../shell/notices.tsx";
import { DRAFTS } from "../team/use-draft.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { begin, changed, followed, type History, redone, undone } from "../component/history.ts";

/** A component as it is stored. */
export interface StoredComponent {
  component: ComponentData;
  version: number;
}

export interface Draft {
  /** The component as it is drawn: with the changes. */
  component: ComponentData;
  /** The same without them. */
  stored: ComponentData;
  changed: boolean;
  /** The version from which the changes were made. */
  version: number;
  /** The version that another person or another tab has stored since; undefined if there is none. */
  theirs: number | undefined;
  /** The notes on what was saved last. */
  notes: NotedTeam["notes"];
  /** Why the last attempt to save was refused. */
  refusal: Error | undefined;
  change: (component: ComponentData) => void;
  /** Undefined where there is nothing to undo. */
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
  /** True while the last change, done or undone, was that of `load`. */
  afterLoad: boolean;
  refuse: (error: Error | undefined) => void;
  save: (team: NotedTeam) => void;
  discard: () => void;
  /** Shows what is stored, instead of the changes. They can be brought back with `undo`, as changes of what is stored now. */
  load: () => void;
}

interface Changes {
  history: History<ComponentData>;
  version: number;
}

/**
 * Changes to a component that are not saved yet. They are kept in this tab, with the secrets that were typed, until they are
 * saved or discarded, or the tab is closed, which asks first.
 *
 * @param name under which they are kept
 * @param href where they can be seen
 */
export function useDraft(name: string, given: StoredComponent, href: string): Draft {
  const key = `${DRAFTS}component.${name}`;
  const [changes, setChanges] = useState<Changes | undefined>(() => read(key));
  const [loaded, setLoaded] = useState<ComponentData>();
  const [saved, setSaved] = useState<NotedTeam>();
  const [refusal, refuse] = useState<Error>();
  // The saved component is shown until the team is loaded again.
  const now =
    saved !== undefined && saved.component_version > given.version
      ? { component: dataOf(saved), version: saved.component_version }
      : given;
  const component = changes?.history.now ?? now.component;
  const isChanged =
    changes !== undefined && JSON.stringify(component) !== JSON.stringify(now.component);
  useEffect(() => {
    if (changes === undefined || !isChanged) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ component, version: changes.version }));
  }, [key, component, changes, isChanged]);
  useLeaving(key, isChanged, href);
  const update = (history: History<ComponentData>): void => {
    setChanges({ history, version: changes?.version ?? now.version });
    refuse(undefined);
  };
  const history = changes?.history ?? begin(now.component);
  return {
    component,
    stored: now.component,
    changed: isChanged,
    version: changes?.version ?? now.version,
    theirs:
      isChanged && changes !== undefined && changes.version < now.version ? now.version : undefined,
    notes: saved?.notes ?? [],
    refusal,
    change: (next) => update(changed(history, next)),
    undo: history.past.length === 0 ? undefined : () => update(undone(history)),
    redo: history.future.length === 0 ? undefined : () => update(redone(history)),
    afterLoad: loaded !== undefined && [history.now, history.future[0]].includes(loaded),
    refuse,
    save: useCallback(
      (team: NotedTeam) => {
        // The page may be left at once, for that of a team that was created.
        sessionStorage.removeItem(key);
        setSaved(team);
        setChanges(undefined);
      },
      [key],
    ),
    discard: () => {
      setChanges(undefined);
      refuse(undefined);
    },
    load: () => {
      setLoaded(now.component);
      setChanges({ history: followed(history, now.component), version: now.version });
      refuse(undefined);
    },
  };
}

function dataOf({ component }: NotedTeam): ComponentData {
  return component;
}

function read(key: string): Changes | undefined {
  const text = sessionStorage.getItem(key);
  if (text === null) return undefined;
  const { component, version } = JSON.parse(text) as StoredComponent;
  return { history: begin(component), version };
}

/** Asks before the page is closed, and says where the changes are when the user goes to another page of the console. */
function useLeaving(key: string, unsaved: boolean, href: string): void {
  const { tell } = useNotices();
  useEffect(() => {
    if (!unsaved) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [unsaved]);
  useEffect(
    () => () => {
      if (sessionStorage.getItem(key) === null) return;
      tell("Your changes are not saved. This tab keeps them.", { href, name: "Continue" });
    },
    [key, href, tell],
  );
}
