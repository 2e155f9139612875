import type { TenantGateway, TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { MOST_SKILL_VERSIONS, MOST_SKILLS } from "../../contract/constants.ts";
import { ok, refuse, type Refused, type Result } from "../../contract/result.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";
import { infoOf, listedOf, type SkillStore, type StoredVersion, versionOf } from "./skill-store.ts";

/** Access to the skills for the commands. */
export interface SkillSource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => SkillStore | undefined;
  /** Creates the tenant's tables first. Refused while the tenant is being deleted, and where it may store nothing more. */
  hold: () => Result<SkillStore>;
}

type SkillMethods = Pick<
  TenantGateway,
  | "putSkill"
  | "listSkills"
  | "getSkill"
  | "skillVersions"
  | "skillBytes"
  | "deleteSkill"
  | "knownSkills"
> &
  Pick<TenantOfTeam, "findSkills" | "openSkill" | "skillFile" | "skillFiles">;

/** Commands on the skills of a tenant. */
export const skillHandlers = {
  putSkill({ skills: source }, name, content) {
    const before = source.stored()?.newest(name);
    // Equal files store nothing, so no limit refuses them.
    if (before?.hash === content.hash) return ok({ ...infoOf(before), created: false });
    const held = source.hold();
    if (!held.ok) return held;
    const skills = held.value;
    if (before === undefined && skills.count >= MOST_SKILLS) return tooMany("skills", MOST_SKILLS);
    if (before !== undefined && before.version >= MOST_SKILL_VERSIONS) {
      return tooMany("skill_versions", MOST_SKILL_VERSIONS);
    }
    const created = before === undefined;
    return ok({ ...infoOf(skills.add(name, content, Date.now())), created });
  },

  listSkills({ skills: source }, { limit, cursor }) {
    const position = cursor === undefined ? [""] : fromCursor(cursor, ["string"]);
    if (position === undefined) return invalidCursor();
    const found = source.stored()?.page(position[0] ?? "", limit + 1) ?? [];
    const skills = found.slice(0, limit).map(listedOf);
    const last = skills.at(-1);
    const isMore = found.length > limit && last !== undefined;
    return ok({ skills, next_cursor: isMore ? toCursor(last.name) : null });
  },

  getSkill({ skills: source }, name, { version }) {
    const found = at(source, name, version ?? null);
    return found === undefined ? notFound(name, version) : ok(infoOf(found));
  },

  skillVersions({ skills: source }, name, { limit, cursor }) {
    const position =
      cursor === undefined ? [Number.MAX_SAFE_INTEGER] : fromCursor(cursor, ["number"]);
    if (position === undefined) return invalidCursor();
    const skills = source.stored();
    if (skills?.newest(name) === undefined) return notFound(name);
    const found = skills.versions(name, position[0] ?? 0, limit + 1);
    const versions = found.slice(0, limit).map(versionOf);
    const last = versions.at(-1);
    const isMore = found.length > limit && last !== undefined;
    return ok({ versions, next_cursor: isMore ? toCursor(last.version) : null });
  },

  skillBytes({ skills: source }, name, version, path) {
    const found = at(source, name, version);
    if (found === undefined) return notFound(name, version ?? undefined);
    return bytesOf(source, found, path);
  },

  deleteSkill({ skills: source }, name) {
    return source.stored()?.remove(name) === true ? ok(null) : notFound(name);
  },

  knownSkills({ skills: source }, names) {
    const skills = source.stored();
    return names.filter((name) => skills?.newest(name) !== undefined);
  },

  findSkills({ skills: source }, names) {
    const skills = source.stored();
    return names.map((name) => {
      const found = skills?.newest(name);
      return found === undefined ? null : { name, description: found.description, pin: found.hash };
    });
  },

  openSkill({ skills: source }, name, pin) {
    const found = source.stored()?.withHash(name, pin);
    if (found === undefined) return notFound(name);
    const { text, allowed_tools, files } = found;
    return ok({ text, allowed_tools, files });
  },

  skillFile({ skills: source }, name, pin, path) {
    const found = source.stored()?.withHash(name, pin);
    return found === undefined ? notFound(name) : bytesOf(source, found, path);
  },

  skillFiles({ skills: source }, name, pin) {
    const skills = source.stored();
    const found = skills?.withHash(name, pin);
    if (skills === undefined || found === undefined) return notFound(name);
    return ok(
      found.files.map(({ path }) => ({
        path,
        bytes: skills.file(found, path) ?? new Uint8Array(),
      })),
    );
  },
} satisfies Handlers<SkillMethods, { skills: SkillSource }>;

function at(
  { stored }: SkillSource,
  name: string,
  version: number | null,
): StoredVersion | undefined {
  return version === null ? stored()?.newest(name) : stored()?.version(name, version);
}

function bytesOf(
  { stored }: SkillSource,
  found: StoredVersion,
  path: string,
): Result<Uint8Array<ArrayBuffer>> {
  const bytes = stored()?.file(found, path);
  if (bytes !== undefined) return ok(bytes);
  return refuse(
    404,
    "file_not_found",
    `The skill "${found.name}" has no file ${JSON.stringify(path)}.`,
  );
}

function notFound(name: string, version?: number): Refused {
  const detail =
    version === undefined
      ? `There is no skill "${name}".`
      : `There is no version ${version} of a skill "${name}".`;
  return refuse(404, "skill_not_found", detail);
}

function tooMany(limit: "skills" | "skill_versions", value: number): Refused {
  const detail =
    limit === "skills"
      ? `The tenant has ${value} skills, the most there may be. Delete those that are not used.`
      : `The skill has ${value} versions, the most there may be. Delete it and put it again.`;
  const { problem } = refuse(429, `too_many_${limit}`, detail, { limit, value });
  return { ok: false, problem: { ...problem, repeatable: false } };
}
