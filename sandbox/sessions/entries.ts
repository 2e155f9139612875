import type { WorkspaceChange, WorkspaceEntry } from "../runner.ts";
import { isPath, isTarget } from "../workspace-path.ts";
import type { SessionStore } from "./store.ts";
import type { StoredChange, StoredEntry } from "./workspace.ts";

const CONCURRENT_WRITES = 16;

/** An entry with its content. */
export async function readEntry(
  store: SessionStore,
  path: string,
  entry: StoredEntry,
): Promise<WorkspaceEntry> {
  if (entry.type !== "file") return { path, ...entry };
  const { type, mode } = entry;
  return { path, type, mode, content: await store.read(entry.blob) };
}

/** Stores the changes that a runner reports. The runner is not trusted. */
export async function keepChange(
  store: SessionStore,
  change: WorkspaceChange,
): Promise<{ kept: StoredChange; unkept: string[] }> {
  const acceptable = change.set.filter(isAcceptable);
  const set = new Map<string, StoredEntry>();
  // A disk does several writes in the time of one.
  for (let start = 0; start < acceptable.length; start += CONCURRENT_WRITES) {
    const some = acceptable.slice(start, start + CONCURRENT_WRITES);
    const written = await Promise.all(some.map((entry) => writeEntry(store, entry)));
    for (const [index, { path }] of some.entries()) set.set(path, written[index] as StoredEntry);
  }
  const unkept = change.set.filter((entry) => !isAcceptable(entry)).map(({ path }) => path);
  return { kept: { set, removed: change.removed.filter(isPath) }, unkept };
}

async function writeEntry(store: SessionStore, entry: WorkspaceEntry): Promise<StoredEntry> {
  if (entry.type === "directory") return { type: "directory" };
  if (entry.type === "link") return { type: "link", target: entry.target };
  return {
    type: "file",
    blob: await store.put(entry.content),
    size: entry.content.byteLength,
    mode: entry.mode & 0o777,
    modified_at: new Date().toISOString(),
  };
}

function isAcceptable(entry: WorkspaceEntry): boolean {
  return isPath(entry.path) && (entry.type !== "link" || isTarget(entry.target));
}
