import * as z from "zod";
import { MOST_VERSIONS } from "../constants.ts";
import { pageCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import { nothingSchema } from "../run.ts";
import { teamSchema } from "../team.ts";
import {
  changeVersionSchema,
  teamVersionPageSchema,
  teamVersionSchema,
  versionWithComponentSchema,
} from "../team/version.ts";
import { command } from "./command.ts";

/** The versions of a team's component: each change of it makes one. */
export const versionCommands = {
  versions: command({
    method: "get",
    path: "/v1/teams/:team/versions",
    id: "listVersions",
    summary: `The versions of the team's component, newest first: the latest ${MOST_VERSIONS} and all with a label`,
    tag: "Teams",
    scope: "teams:read",
    object: "team",
    query: (limits) =>
      z.strictObject({ cursor: pageCursorParameter, limit: pageSizeParameter(limits) }),
    answers: {
      200: { description: "A page.", schema: { TeamVersionPage: teamVersionPageSchema } },
    },
    problems: [404],
  }),

  version: command({
    method: "get",
    path: "/v1/teams/:team/versions/:version",
    id: "getVersion",
    summary: "A version of the team's component, secrets redacted",
    tag: "Teams",
    scope: "teams:read",
    object: "team",
    answers: {
      200: {
        description: "The version.",
        schema: { VersionWithComponent: versionWithComponentSchema },
      },
    },
    problems: [404],
  }),

  changeVersion: command({
    method: "put",
    path: "/v1/teams/:team/versions/:version",
    id: "putVersion",
    summary: "Label a version, or write a note on it",
    tag: "Teams",
    scope: "teams:write",
    object: "team",
    body: changeVersionSchema,
    answers: { 200: { description: "The version.", schema: { TeamVersion: teamVersionSchema } } },
    problems: [404],
  }),

  restoreVersion: command({
    method: "post",
    path: "/v1/teams/:team/versions/:version/restore",
    summary: "Make the component of a version the team's component again, as a new version",
    tag: "Teams",
    scope: "teams:write",
    body: nothingSchema,
    bodyOptional: true,
    conditional: true,
    answers: { 200: { description: "The team.", schema: { Team: teamSchema }, etag: true } },
    problems: [404, 409, 412, 502],
  }),
};
