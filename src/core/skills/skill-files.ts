import { beginningOf } from "../cut.ts";
import { type Issue, TroupeError } from "../errors.ts";

/** The most files of a skill. */
export const MAX_SKILL_FILES = 200;
/** The most bytes of all files of a skill together, and of an archive that has them. */
export const MAX_SKILL_BYTES = 10_000_000;
/** The most bytes of `SKILL.md`, which a model reads as a whole. */
export const MAX_SKILL_TEXT_BYTES = 1_000_000;

/** The file that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 1_024;
const MAX_DEPTH = 32;

/** A file of a skill. */
export interface SkillFile {
  /** Relative to the folder, with `/` between names. */
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The rules that a folder breaks. `path` of an issue is a file of the folder; its message begins with the line, where there is one. */
export class SkillError extends TroupeError {
  /** True if the folder is larger than a skill may be. */
  readonly isTooLarge: boolean;

  constructor(issues: readonly Issue[], isTooLarge = false) {
    super(
      isTooLarge ? "skill_too_large" : "invalid_skill",
      `The skill is not valid: ${issues.map(({ path, message }) => `${path}: ${message}`).join("; ")}`,
      { issues: [...issues] },
    );
    this.isTooLarge = isTooLarge;
  }
}

/** The refusal of a folder that is too large. @param path what is too large */
export function tooLargeSkill(path: string): SkillError {
  const message = `the files have more than ${MAX_SKILL_BYTES} bytes together, which is the most for a skill`;
  return new SkillError([{ path, message }], true);
}

/**
 * Checks the paths and sizes of a folder, and gives its files by path. A folder above `SKILL.md` that all files are in is left out.
 *
 * @throws SkillError with all mistakes, ten at most
 */
export function checkFiles(given: readonly SkillFile[]): SkillFile[] {
  if (given.length > MAX_SKILL_FILES) {
    const message = `has ${given.length} files; a skill has ${MAX_SKILL_FILES} at most`;
    throw new SkillError([{ path: "files", message }]);
  }
  if (given.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_SKILL_BYTES) {
    throw tooLargeSkill("files");
  }
  const wrong = given.flatMap(({ path }) => {
    const message = pathMistake(path);
    return message === undefined ? [] : [{ path: shown(path), message }];
  });
  if (wrong.length > 0) throw new SkillError(wrong.slice(0, 10));
  const files = withoutFolder(given).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const same = samePaths(files);
  if (same.length > 0) throw new SkillError(same.slice(0, 10));
  if (files.some(({ path }) => path === SKILL_FILE)) return files;
  const near = files.find(({ path }) => path.toLowerCase() === SKILL_FILE.toLowerCase());
  const message =
    near === undefined
      ? `is missing: a skill is a folder with ${SKILL_FILE} in it`
      : `is missing: ${near.path} must be named ${SKILL_FILE}`;
  throw new SkillError([{ path: SKILL_FILE, message }]);
}

/** Why a path cannot be that of a file in a skill; undefined for one that can. */
export function pathMistake(path: string): string | undefined {
  if (path === "") return "is empty";
  if (!path.isWellFormed()) return "has broken Unicode";
  if (/\p{Cc}/u.test(path)) return "has control characters";
  if (path.includes("\\")) return "has a backslash: names of folders and files are separated by /";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) {
    return "is absolute: paths are relative to the folder of the skill";
  }
  const names = path.split("/");
  if (names.includes("..")) return "has .., which leads out of the folder of the skill";
  if (names.some((name) => name === "" || name === ".")) return "has an empty name or .";
  if (names.length > MAX_DEPTH) return `is deeper than ${MAX_DEPTH} folders`;
  if (names.some((name) => bytesOf(name) > MAX_NAME_BYTES)) {
    return `has a name of more than ${MAX_NAME_BYTES} bytes`;
  }
  return bytesOf(path) > MAX_PATH_BYTES ? `has more than ${MAX_PATH_BYTES} bytes` : undefined;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A path for an error, which may have any length and characters. */
function shown(path: string): string {
  const text = JSON.stringify(path).slice(1, -1);
  return text === "" ? "files" : text.length > 200 ? `${beginningOf(text, 200)}...` : text;
}

/** The files of the only folder at the top, if it has `SKILL.md` and nothing stands beside it. */
function withoutFolder(files: readonly SkillFile[]): readonly SkillFile[] {
  const [top = ""] = files[0]?.path.split("/") ?? [];
  const prefix = `${top}/`;
  const isFolder =
    files.every(({ path }) => path.startsWith(prefix)) &&
    files.some(({ path }) => path === `${prefix}${SKILL_FILE}`);
  return isFolder
    ? files.map(({ path, bytes }) => ({ path: path.slice(prefix.length), bytes }))
    : files;
}

/** Paths that are one file, or a file and a folder, on a system that does not tell upper from lower case. */
function samePaths(files: readonly SkillFile[]): Issue[] {
  const seen = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const { path } of files) {
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      folders.set(folded(path.slice(0, end)), path);
    }
  }
  return files.flatMap(({ path }) => {
    const key = folded(path);
    const other = seen.get(key) ?? folders.get(key);
    seen.set(key, path);
    if (other === undefined) return [];
    const message =
      other === path
        ? "is there twice"
        : `cannot stand beside ${shown(other)}: on some systems both are the same`;
    return [{ path: shown(path), message }];
  });
}

function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
