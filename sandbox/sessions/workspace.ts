/** An entry of a workspace. Files are blobs of the session's store. */
export type StoredEntry =
  | { type: "file"; blob: string; size: number; mode: number; modified_at: string }
  | { type: "link"; target: string }
  | { type: "directory" };

/**
 * A workspace: entries by path, including all directories above an entry. Immutable: an entry that is the same object in two
 * workspaces is equal.
 */
export type Workspace = ReadonlyMap<string, StoredEntry>;

export const EMPTY_WORKSPACE: Workspace = new Map();

/** The difference between two workspaces. */
export interface StoredChange {
  set: ReadonlyMap<string, StoredEntry>;
  removed: readonly string[];
}

/** The directories above a path, the topmost first. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1))
    parents.push(path.slice(0, end));
  return parents;
}

/**
 * Applies a change: removes first, then sets. New entries win: their directories replace files and links, and an entry replaces a
 * directory with everything in it.
 */
export function apply(workspace: Workspace, { set, removed }: StoredChange): Workspace {
  const directories = new Set([...set.keys()].flatMap(parentsOf));
  const gone = new Set(removed);
  for (const [path, { type }] of set)
    if (type !== "directory" || !isDirectory(workspace, path)) gone.add(path);
  for (const path of directories) if (!isDirectory(workspace, path)) gone.add(path);
  const result = new Map(
    [...workspace].filter(
      ([path]) => !gone.has(path) && !parentsOf(path).some((parent) => gone.has(parent)),
    ),
  );
  for (const path of directories) if (!result.has(path)) result.set(path, { type: "directory" });
  for (const [path, entry] of set) {
    if (directories.has(path) || (entry.type === "directory" && result.has(path))) continue;
    result.set(path, entry);
  }
  return result;
}

/** The change from one workspace to another, parents first; a removed directory is one path, without its entries. */
export function difference(from: Workspace, to: Workspace): StoredChange {
  const removed = [...from.keys()].filter((path) => to.get(path)?.type !== from.get(path)?.type);
  const gone = new Set(removed);
  const set = [...to].filter(([path, entry]) => {
    const before = from.get(path);
    return before !== entry && !(before?.type === "directory" && entry.type === "directory");
  });
  return {
    set: new Map(set.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    removed: removed.filter((path) => !parentsOf(path).some((parent) => gone.has(parent))),
  };
}

/** The size of a workspace. */
export function measure(workspace: Workspace): { entries: number; bytes: number } {
  let bytes = 0;
  for (const entry of workspace.values()) if (entry.type === "file") bytes += entry.size;
  return { entries: workspace.size, bytes };
}

function isDirectory(workspace: Workspace, path: string): boolean {
  return workspace.get(path)?.type === "directory";
}
