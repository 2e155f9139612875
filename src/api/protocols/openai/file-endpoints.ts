import * as z from "zod";
import { integerParameter } from "../../../contract/query-parameters.ts";
import { MAX_UPLOADED_BYTES, MOST_FILES } from "../../../contract/constants.ts";
import { type CheckedRequest, type Endpoint, endpoint } from "../../http/endpoint/endpoint.ts";
import type { OpenAICall } from "./run/services.ts";

const filesQuery = z.strictObject({
  purpose: z.string().max(100).optional().describe("Only files of this purpose."),
  limit: integerParameter(1, MOST_FILES).default(MOST_FILES),
  order: z.enum(["asc", "desc"], 'must be "asc" or "desc"').default("desc"),
  after: z.string().max(100).optional().describe("The id of the last file that the client has."),
});

/** OpenAI's files: uploads, which messages name by their ids. */
export function fileEndpoints(
  base: string,
  protocol: Pick<Endpoint, "tag" | "namesTeam" | "ignoresUnknownQuery" | "refusal">,
  callOf: (call: CheckedRequest) => OpenAICall,
): Endpoint[] {
  const all = `${base}/files`;
  const one = `${all}/:file{[^/]+}`;
  const common = { ...protocol, scope: "runs:write" as const };
  const answers = (description: string) => ({ 200: { description, media: "application/json" } });
  const load = () => import("./files.ts");
  return [
    endpoint({
      ...common,
      method: "post",
      path: all,
      id: "openAIUploadFile",
      summary: `Upload a file of at most ${MAX_UPLOADED_BYTES} bytes`,
      reads: "upload",
      answers: answers("The file."),
      problems: [400, 409, 413, 415, 507],
      handle: async (call) => (await load()).uploadFile(callOf(call)),
    }),
    endpoint({
      ...common,
      method: "get",
      path: all,
      id: "openAIListFiles",
      summary: "The files that were uploaded",
      query: filesQuery,
      answers: answers("A page of files."),
      problems: [400, 404],
      handle: async (call) => (await load()).listFiles(callOf(call), call.query),
    }),
    endpoint({
      ...common,
      method: "get",
      path: one,
      id: "openAIGetFile",
      summary: "A file, without its bytes",
      answers: answers("The file."),
      problems: [400, 404],
      handle: async (call) => (await load()).getFile(callOf(call), call.param("file")),
    }),
    endpoint({
      ...common,
      method: "get",
      path: `${one}/content`,
      id: "openAIGetFileContent",
      summary: "The bytes of a file",
      answers: { 200: { description: "The bytes.", media: "application/octet-stream" } },
      problems: [400, 404],
      handle: async (call) => (await load()).getFileContent(callOf(call), call.param("file")),
    }),
    endpoint({
      ...common,
      method: "delete",
      path: one,
      id: "openAIDeleteFile",
      summary: "Erase a file",
      answers: answers("It is erased."),
      problems: [400, 404],
      handle: async (call) => (await load()).deleteFile(callOf(call), call.param("file")),
    }),
  ];
}
