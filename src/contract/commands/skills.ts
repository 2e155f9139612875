import * as z from "zod";
import { MAX_SKILL_JSON_BYTES } from "../constants.ts";
import { integerParameter, listCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import type { QueryLimits } from "../query-parameters.ts";
import {
  putSkillSchema,
  skillPageSchema,
  skillSchema,
  skillVersionPageSchema,
} from "../tenant/skill.ts";
import { command } from "./command.ts";

const page = (limits: QueryLimits) =>
  z.strictObject({ limit: pageSizeParameter(limits), cursor: listCursorParameter });

const versionQuery = () =>
  z.strictObject({
    version: integerParameter(1, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe("Left out, the newest."),
  });

/** Skills of the tenant, which its agents load when a task needs them. */
export const skillCommands = {
  putSkill: command({
    method: "put",
    path: "/v1/skills/:skill",
    summary:
      "Put a skill: a zip archive of its folder, or JSON with its files. Files that differ from the newest version make another one",
    tag: "Skills",
    scope: "teams:write",
    reads: "file",
    json: putSkillSchema,
    maxBytes: MAX_SKILL_JSON_BYTES,
    answers: {
      200: { description: "The newest version.", schema: { Skill: skillSchema } },
      201: {
        description: "The first version of a new skill.",
        schema: { Skill: skillSchema },
        location: true,
      },
    },
    problems: [400, 409, 413, 415, 422, 429, 507],
  }),

  listSkills: command({
    method: "get",
    path: "/v1/skills",
    summary: "The skills, by name",
    tag: "Skills",
    scope: "teams:read",
    query: page,
    answers: { 200: { description: "A page.", schema: { SkillPage: skillPageSchema } } },
    object: "tenant",
  }),

  getSkill: command({
    method: "get",
    path: "/v1/skills/:skill",
    summary: "A skill with its instructions and the list of its files",
    tag: "Skills",
    scope: "teams:read",
    query: versionQuery,
    answers: { 200: { description: "The version.", schema: { Skill: skillSchema } } },
    problems: [404],
    object: "tenant",
  }),

  skillVersions: command({
    method: "get",
    path: "/v1/skills/:skill/versions",
    id: "listSkillVersions",
    summary: "The versions of a skill, the newest first",
    tag: "Skills",
    scope: "teams:read",
    query: page,
    answers: {
      200: { description: "A page.", schema: { SkillVersionPage: skillVersionPageSchema } },
    },
    problems: [404],
    object: "tenant",
  }),

  getSkillFile: command({
    method: "get",
    path: "/v1/skills/:skill/files/:path{[^]+}",
    summary: "A file of a skill",
    tag: "Skills",
    scope: "teams:read",
    query: versionQuery,
    answers: {
      200: { description: "The bytes of the file.", media: "application/octet-stream" },
    },
    problems: [404],
  }),

  deleteSkill: command({
    method: "delete",
    path: "/v1/skills/:skill",
    summary: "Delete a skill with all its versions",
    tag: "Skills",
    scope: "teams:write",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
    object: "tenant",
  }),
};
