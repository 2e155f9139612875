import { fromBase64 } from "../../core/base64.ts";
import { beginningOf } from "../../core/cut.ts";
import { errorMessage, ValueError } from "../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import {
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  pathMistake,
  SKILL_FILE,
  type SkillFile,
} from "../../core/skills/skill-files.ts";
import type { OpenSkill, SkillSource, SkillSummary } from "../../core/skills/skill-source.ts";
import { rethrowSignal } from "../../core/steps/signals.ts";
import type { TurnContext } from "../../core/turn/turn-context.ts";

const SCHEME = "skill://";
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
/** The most skills of one server. */
const MAX_SKILLS = 100;

/** The calls of a server, each with steps below its context. */
export interface ResourceServer {
  listResources(call: { ctx: TurnContext }): Promise<Json>;
  readResource(uri: string, call: { ctx: TurnContext }): Promise<Json>;
}

/** A skill among the resources of a server. */
interface Listed {
  /** The address of its SKILL.md. */
  uri: string;
  description: string | undefined;
  /** By path, with their addresses. */
  files: Map<string, { uri: string; size: number | null }>;
}

/** The resources of an MCP server at `skill://NAME/SKILL.md`, and below the same address: skills with their files. */
export class SkillResources implements SkillSource {
  readonly makesSteps = true;
  readonly #server: ResourceServer;
  readonly #ctx: TurnContext;

  constructor(server: ResourceServer, ctx: TurnContext) {
    this.#server = server;
    this.#ctx = ctx;
  }

  /** All skills of the server. One that cannot be asked has none, and a note says so. */
  async find(): Promise<(SkillSummary | null)[]> {
    const ctx = this.#ctx;
    let listed: Map<string, Listed>;
    try {
      listed = await this.#list();
    } catch (error) {
      rethrowSignal(error);
      ctx.note(`An MCP server does not list its skills: ${errorMessage(error)}`);
      return [];
    }
    const found: SkillSummary[] = [];
    for (const [name, { uri, description }] of listed) {
      const shown = description ?? (await this.#described(name, uri));
      found.push({ name, description: beginningOf(shown, MAX_DESCRIPTION), pin: uri });
    }
    return found;
  }

  async open(name: string): Promise<OpenSkill> {
    const { uri, files } = await this.#skill(name);
    const { text, allowed_tools } = await contentOf(await this.#read("text", uri));
    return { text, allowed_tools, files: [...files].map(([path, { size }]) => ({ path, size })) };
  }

  async read(name: string, _pin: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
    const file = (await this.#skill(name)).files.get(path);
    if (file === undefined) throw new ValueError(`the skill "${name}" has no file "${path}"`);
    return this.#read("file", file.uri);
  }

  async files(name: string): Promise<SkillFile[]> {
    const { files } = await this.#skill(name);
    const read: SkillFile[] = [];
    let size = 0;
    for (const [path, { uri }] of files) {
      const bytes = await this.#read(`file:${path}`, uri);
      size += bytes.length;
      if (size > MAX_SKILL_BYTES) {
        throw new ValueError(
          `the files of the skill "${name}" have more than ${MAX_SKILL_BYTES} bytes`,
        );
      }
      read.push({ path, bytes });
    }
    return read;
  }

  async #skill(name: string): Promise<Listed> {
    const listed = (await this.#list()).get(name);
    if (listed !== undefined) return listed;
    throw new ValueError(`the server of the skill "${name}" does not have it any more`);
  }

  async #described(name: string, uri: string): Promise<string> {
    const bytes = await this.#read(`description:${name}`, uri);
    return (await contentOf(bytes)).description ?? name;
  }

  async #list(): Promise<Map<string, Listed>> {
    const answer = await this.#server.listResources({ ctx: this.#ctx.scope("list") });
    const resources = isJsonObject(answer) ? answer["resources"] : undefined;
    return skillsIn(Array.isArray(resources) ? resources.filter(isJsonObject) : []);
  }

  async #read(key: string, uri: string): Promise<Uint8Array<ArrayBuffer>> {
    const answer = await this.#server.readResource(uri, { ctx: this.#ctx.scope(key) });
    const contents = isJsonObject(answer) ? answer["contents"] : undefined;
    const [content] = Array.isArray(contents) ? contents : [];
    if (isJsonObject(content ?? null)) {
      const { text, blob } = content as JsonObject;
      if (typeof text === "string") return new Uint8Array(new TextEncoder().encode(text));
      if (typeof blob === "string") return fromBase64(blob);
    }
    throw new ValueError(`the server gives no content of ${uri}`);
  }
}

/** The skills among resources, and the files below them. */
function skillsIn(resources: readonly JsonObject[]): Map<string, Listed> {
  const skills = new Map<string, Listed & { root: string }>();
  const others: { path: string; uri: string; size: number | null }[] = [];
  for (const { uri, description, size } of resources) {
    if (typeof uri !== "string" || !uri.startsWith(SCHEME)) continue;
    const path = uri.slice(SCHEME.length).replace(/\/$/, "");
    const bytes = typeof size === "number" ? size : null;
    const isMain = path.endsWith(`/${SKILL_FILE}`);
    if (!isMain && path.includes("/")) {
      others.push({ path, uri, size: bytes });
      continue;
    }
    const root = isMain ? path.slice(0, -SKILL_FILE.length - 1) : path;
    const name = root.slice(root.lastIndexOf("/") + 1);
    const isKnown = skills.has(name) || skills.size >= MAX_SKILLS;
    if (!NAME.test(name) || name.length > MAX_NAME || isKnown) continue;
    const shown =
      typeof description === "string" && description.trim() !== "" ? description : undefined;
    const files = new Map([[SKILL_FILE, { uri, size: bytes }]]);
    skills.set(name, { root, uri, description: shown, files });
  }
  for (const { path, uri, size } of others) {
    for (const { root, files } of skills.values()) {
      if (!path.startsWith(`${root}/`) || files.size >= MAX_SKILL_FILES) continue;
      const inside = decoded(path.slice(root.length + 1));
      if (pathMistake(inside) === undefined && !files.has(inside)) files.set(inside, { uri, size });
    }
  }
  return skills;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The instructions of a SKILL.md. A server may leave out its front matter. */
async function contentOf(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Pick<OpenSkill, "text" | "allowed_tools"> & { description?: string }> {
  const { readSkillText } = await import("../../core/skills/front-matter.ts");
  const { SkillError } = await import("../../core/skills/skill-files.ts");
  try {
    const { text, allowedTools: allowed_tools, description } = readSkillText(bytes, undefined);
    return { text, allowed_tools, description };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { text: new TextDecoder().decode(bytes), allowed_tools: null };
  }
}
