import { MAX_SKILL_JSON_BYTES } from "../../../contract/constants.ts";
import { putSkillSchema, type SkillContent } from "../../../contract/tenant/skill.ts";
import { fromBase64, isBase64 } from "../../../core/base64.ts";
import { beginningOf } from "../../../core/cut.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { issuesOf, namesKnownFields } from "../../../core/issues.ts";
import { MAX_SKILL_BYTES, SKILL_FILE, type SkillFile } from "../../../core/skills/skill-files.ts";
import type { Limits } from "../endpoint/limits.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";
import { readBytes, readJson, requireNoCoding } from "./body.ts";

/** Keys around the files. */
const MAX_DEPTH = 8;

/**
 * Reads a skill: a zip archive of its folder, or JSON with its files.
 *
 * @param name the name in the path, which that of the skill must be
 * @throws ProblemError 413, 415, or 422 with the lines and rules
 */
export async function readSkill(
  request: Request,
  name: string,
  limits: Limits,
): Promise<SkillContent> {
  // Imported here, because few requests read a skill, and this needs YAML.
  const [{ checkFiles, SkillError }, { readSkillText }] = await Promise.all([
    import("../../../core/skills/skill-files.ts"),
    import("../../../core/skills/front-matter.ts"),
  ]);
  const sent = await sentFiles(request, limits);
  try {
    const files = checkFiles(Array.isArray(sent) ? sent : await unpacked(sent.archive));
    const main = files.find(({ path }) => path === SKILL_FILE) as SkillFile;
    const { description, text, allowedTools, frontMatter } = readSkillText(main.bytes, name);
    return {
      description,
      text,
      allowed_tools: allowedTools && [...allowedTools],
      front_matter: frontMatter,
      ...(await packed(files)),
    };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const { code, message, issues, isTooLarge } = error;
    if (isTooLarge) throw new ProblemError({ status: 413, code, detail: `${message}.` });
    throw invalid(code, `${message}.`, issues);
  }
}

async function unpacked(archive: Uint8Array<ArrayBuffer>): Promise<SkillFile[]> {
  const { unzip } = await import("../../../core/skills/unzip.ts");
  return unzip(archive);
}

/** The files one after the other, and their key: the same for the same paths with the same bytes. */
async function packed(
  files: readonly SkillFile[],
): Promise<Pick<SkillContent, "files" | "bytes" | "hash">> {
  const bytes = new Uint8Array(files.reduce((sum, file) => sum + file.bytes.length, 0));
  let at = 0;
  for (const file of files) {
    bytes.set(file.bytes, at);
    at += file.bytes.length;
  }
  const listed = files.map(({ path, bytes: { length: size } }) => ({ path, size }));
  const hash = await sha256Hex(`${JSON.stringify(listed)} ${await sha256Hex(bytes)}`);
  return { files: listed, bytes, hash };
}

async function sentFiles(
  request: Request,
  limits: Limits,
): Promise<SkillFile[] | { archive: Uint8Array<ArrayBuffer> }> {
  const [type = ""] = (request.headers.get("content-type") ?? "").toLowerCase().split(";");
  if (ARCHIVES.has(type.trim())) {
    requireNoCoding(request.headers.get("content-encoding"));
    return { archive: await readBytes(request, MAX_SKILL_BYTES, "") };
  }
  if (type.trim() === "application/json") return filesInJson(request, limits);
  throw new ProblemError({
    status: 415,
    code: "unsupported_media_type",
    detail: `Send a skill as application/zip, or as application/json with its files; Content-Type is ${
      type === "" ? "missing" : JSON.stringify(beginningOf(type, 100))
    }.`,
  });
}

const ARCHIVES: ReadonlySet<string> = new Set([
  "application/zip",
  "application/x-zip-compressed",
  "application/octet-stream",
]);

async function filesInJson(request: Request, limits: Limits): Promise<SkillFile[]> {
  const larger = { ...limits, max_body_bytes: MAX_SKILL_JSON_BYTES, max_json_depth: MAX_DEPTH };
  const { value } = await readJson(request, larger, "");
  const result = putSkillSchema.safeParse(value ?? {}, { error: namesKnownFields });
  if (!result.success)
    throw invalid("invalid_request", "The body is invalid.", issuesOf(result.error));
  const { files } = result.data;
  if (Array.isArray(files)) {
    return files.map((file, index) => ({
      path: file.path,
      bytes: "content" in file ? encoded(file.content) : decoded(file.base64, `files[${index}]`),
    }));
  }
  return Object.entries(files).map(([path, file]) => ({
    path,
    bytes: typeof file === "string" ? encoded(file) : decoded(file.base64, `files.${path}`),
  }));
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

function decoded(base64: string, path: string): Uint8Array<ArrayBuffer> {
  if (isBase64(base64)) return fromBase64(base64);
  throw invalid("invalid_request", "The body is invalid.", [
    { path: `${path}.base64`, message: "is not base64 with its padding" },
  ]);
}
