import type { FileObject } from "openai/resources/files";
import { MAX_UPLOADED_BYTES } from "../../../contract/constants.ts";
import type { KeptFile, KeptFileQuery } from "../../../contract/tenant/kept-file.ts";
import { readForm, tooLarge } from "../../http/input/body.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import { tenantOf } from "../../http/endpoint/services.ts";
import { list } from "./conversation-items.ts";
import { refusedAt } from "./request/parse.ts";
import { fileSight, type OpenAICall } from "./run/services.ts";

const PURPOSES = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];
/** Seconds after which a file is erased: an hour to 30 days, which is the default. */
const SHORTEST_LIFE = 3_600;
const LONGEST_LIFE = 2_592_000;
/** The bytes of a form around its file. */
const FORM_BYTES = 10_000;
// oxlint-disable-next-line no-control-regex -- such a name would break the lines that show it
const NAME = /^[^\u0000-\u001f\u007f]{1,255}$/;

/** `POST /files`. @throws ProblemError */
export async function uploadFile({ services, principal, raw }: OpenAICall): Promise<Response> {
  const form = await readForm(raw, MAX_UPLOADED_BYTES + FORM_BYTES);
  const file = form.get("file");
  if (!(file instanceof File)) throw refusedAt("file", "must be a file");
  if (file.size > MAX_UPLOADED_BYTES) throw tooLarge(MAX_UPLOADED_BYTES);
  const filename = file.name || "file";
  if (!NAME.test(filename))
    throw refusedAt("file", "must have a name of 1 to 255 characters, without control characters");
  const purpose = form.get("purpose");
  if (typeof purpose !== "string" || !PURPOSES.includes(purpose))
    throw refusedAt("purpose", `must be one of ${PURPOSES.join(", ")}`);
  const kept = unwrap(
    await tenantOf(services, principal.tenant).addFile({
      filename,
      media_type: file.type || null,
      purpose,
      owner: fileSight(principal) ?? "",
      expires_in: lifeOf(form),
      content: new Uint8Array(await file.arrayBuffer()),
    }),
  );
  return json(fileObject(kept));
}

/** `GET /files`. @throws ProblemError */
export async function listFiles(
  { services, principal }: OpenAICall,
  query: KeptFileQuery,
): Promise<Response> {
  const tenant = tenantOf(services, principal.tenant);
  const { files, more } = unwrap(await tenant.keptFiles(query, fileSight(principal)));
  return json(list(files.map(fileObject), more));
}

/** `GET /files/{id}`. @throws ProblemError 404 */
export async function getFile(call: OpenAICall, id: string): Promise<Response> {
  return json(fileObject(await findFile(call, id)));
}

/** `GET /files/{id}/content`. @throws ProblemError 404 */
export async function getFileContent(call: OpenAICall, id: string): Promise<Response> {
  const { services, principal } = call;
  const { media_type, bytes } = await findFile(call, id);
  const tenant = tenantOf(services, principal.tenant);
  const content = unwrap(await tenant.keptBytes(id, fileSight(principal)));
  return new Response(content, {
    headers: {
      "content-type": media_type ?? "application/octet-stream",
      "content-length": String(bytes),
      // An uploaded page must not become a page of this origin.
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

/** `DELETE /files/{id}`. @throws ProblemError 404 */
export async function deleteFile(
  { services, principal }: OpenAICall,
  id: string,
): Promise<Response> {
  unwrap(await tenantOf(services, principal.tenant).deleteFile(id, fileSight(principal)));
  return json({ id, object: "file", deleted: true });
}

async function findFile({ services, principal }: OpenAICall, id: string): Promise<KeptFile> {
  return unwrap(await tenantOf(services, principal.tenant).keptFile(id, fileSight(principal)));
}

/** The seconds of `expires_after`, whose members clients send as fields of the form. */
function lifeOf(form: FormData): number {
  const anchor = form.get("expires_after[anchor]");
  const given = form.get("expires_after[seconds]");
  if (anchor === null && given === null) return LONGEST_LIFE;
  if (anchor !== "created_at") throw refusedAt("expires_after.anchor", 'must be "created_at"');
  const seconds = typeof given === "string" && /^\d{1,9}$/.test(given) ? Number(given) : 0;
  if (seconds >= SHORTEST_LIFE && seconds <= LONGEST_LIFE) return seconds;
  const message = `must be a whole number of ${SHORTEST_LIFE} to ${LONGEST_LIFE}`;
  throw refusedAt("expires_after.seconds", message);
}

function fileObject(file: KeptFile): FileObject {
  const { id, bytes, created_at, expires_at, filename, purpose } = file;
  return {
    id,
    object: "file",
    bytes,
    created_at,
    expires_at,
    filename,
    purpose: purpose as FileObject["purpose"],
    status: "processed",
  };
}
