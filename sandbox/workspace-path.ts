const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 255;
const MAX_TARGET_BYTES = 4095;
const MAX_DEPTH = 32;

/**
 * Says why a path cannot be a path of a workspace; undefined when it can. A path that some system could read in another way is
 * refused, too.
 */
export function pathProblem(path: string): string | undefined {
  if (path === "") return "is empty";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(path) || !isUnicode(path))
    return "has control characters, backslashes or broken Unicode";
  const names = path.split("/");
  if (names.length > MAX_DEPTH) return `is deeper than ${MAX_DEPTH} directories`;
  if (names.some((name) => name === "" || name === "." || name === ".."))
    return "has empty names, `.` or `..`";
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return `has a name longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/** Whether a workspace can have an entry at the path. */
export function isPath(path: string): boolean {
  return pathProblem(path) === undefined;
}

/** Whether a link of a workspace can have the target. */
export function isTarget(target: string): boolean {
  return target !== "" && Buffer.byteLength(target) <= MAX_TARGET_BYTES && isUnicode(target);
}

/** False for a name that was not UTF-8: it was decoded with replacement characters or lone surrogates. */
function isUnicode(text: string): boolean {
  return text.isWellFormed() && !text.includes("\ufffd");
}
