import * as z from "zod";
import { integerParameter } from "../query-parameters.ts";
import { filePageSchema } from "../files/workspace-files.ts";
import { command } from "./command.ts";

/** The files of a team's workspace, which its code reads and writes. */
export const fileCommands = {
  listFiles: command({
    method: "get",
    path: "/v1/teams/:team/files",
    summary: "The files of the team's workspace",
    tag: "Files",
    scope: "files:read",
    query: (limits) =>
      z.strictObject({
        limit: integerParameter(1, limits.max_page_size)
          .prefault("50")
          .describe("Files of a page."),
        cursor: z.string().min(1).max(1024).optional().describe("next_cursor of the page before."),
      }),
    answers: { 200: { description: "A page of files.", schema: { FilePage: filePageSchema } } },
    problems: [404, 502],
  }),

  getFile: command({
    method: "get",
    path: "/v1/teams/:team/files/:path{[^]+}",
    summary: "The content of a file",
    tag: "Files",
    scope: "files:read",
    answers: { 200: { description: "The bytes of the file.", media: "*/*" } },
    problems: [404, 502],
  }),

  putFile: command({
    method: "put",
    path: "/v1/teams/:team/files/:path{[^]+}",
    summary: "Write a file, an input of a run for example",
    tag: "Files",
    scope: "runs:write",
    reads: "file",
    answers: {
      201: { description: "The file was created.", location: true },
      204: { description: "The file was replaced." },
    },
    problems: [404, 409, 413, 415, 502],
  }),

  deleteFile: command({
    method: "delete",
    path: "/v1/teams/:team/files/:path{[^]+}",
    summary: "Remove a file",
    tag: "Files",
    scope: "runs:write",
    answers: { 204: { description: "The file was removed." } },
    problems: [404, 409, 502],
  }),
};
