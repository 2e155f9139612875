import { toBase64 } from "../../../../core/base64.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { invalid, unwrap } from "../../../http/endpoint/problem.ts";
import { tenantOf } from "../../../http/endpoint/services.ts";
import { fileSight, type OpenAICall } from "./services.ts";

/** The lists of a request's messages. */
const LISTS = ["messages", "input"] as const;
/** The members of a message or an item that have parts. */
const PARTS = ["content", "output"] as const;

/**
 * A request with the uploaded files that its parts name by `file_id`. What a team has already is not read again: in a request to a `team:`,
 * files before its last answer are left out.
 *
 * @throws ProblemError 404, or 422 for more than a message may have
 */
export async function withNamedFiles(call: OpenAICall, value: unknown): Promise<unknown> {
  if (!isJsonObject(value)) return value;
  const files = new NamedFiles(call);
  const filled: JsonObject = { ...value };
  for (const name of LISTS) {
    const messages = value[name];
    if (!Array.isArray(messages)) continue;
    const isTeam = typeof value["model"] === "string" && value["model"].startsWith("team:");
    const last = messages.findLastIndex(
      (message) => isJsonObject(message) && message["role"] === "assistant",
    );
    const read: Json[] = [];
    for (const [index, message] of messages.entries()) {
      const isKnown = isTeam && index < last;
      read.push(await files.fill(message, `${name}[${index}]`, isKnown));
    }
    filled[name] = read;
  }
  return filled;
}

class NamedFiles {
  readonly #call: OpenAICall;
  readonly #read = new Map<string, { name: string; url: string }>();
  #bytes = 0;

  constructor(call: OpenAICall) {
    this.#call = call;
  }

  /** @param isKnown whether the team has the message already */
  async fill(message: Json, path: string, isKnown: boolean): Promise<Json> {
    if (!isJsonObject(message)) return message;
    const filled: JsonObject = { ...message };
    for (const name of PARTS) {
      const parts = message[name];
      if (!Array.isArray(parts)) continue;
      const read: Json[] = [];
      for (const [index, part] of parts.entries()) {
        const id = fileIdOf(part);
        if (id === undefined) read.push(part);
        else if (isKnown) read.push({ type: "text", text: `[file ${id}]` });
        else read.push(await this.#part(part as JsonObject, id, `${path}.${name}[${index}]`));
      }
      filled[name] = read;
    }
    return filled;
  }

  async #part(part: JsonObject, id: string, path: string): Promise<JsonObject> {
    const { name, url } = await this.#file(id, path);
    if (part["type"] === "input_image") return { type: "input_image", image_url: url };
    const filename = filenameOf(part) ?? name;
    return part["type"] === "file"
      ? { type: "file", file: { filename, file_data: url } }
      : { type: "input_file", filename, file_data: url };
  }

  async #file(id: string, path: string): Promise<{ name: string; url: string }> {
    const known = this.#read.get(id);
    if (known !== undefined) return known;
    const { services, principal } = this.#call;
    const tenant = tenantOf(services, principal.tenant);
    const sight = fileSight(principal);
    const { filename, media_type, bytes } = unwrap(await tenant.keptFile(id, sight));
    this.#bytes += bytes;
    const { max_message_files_bytes: most } = services.limits;
    if (this.#bytes > most) {
      const message = `is too large: all files and images together have at most ${most} bytes (MAX_MESSAGE_FILES_BYTES)`;
      throw invalid("invalid_request", "The request is invalid:", [{ path, message }]);
    }
    const content = unwrap(await tenant.keptBytes(id, sight));
    const file = {
      name: filename,
      url: `data:${media_type ?? "application/octet-stream"};base64,${toBase64(content)}`,
    };
    this.#read.set(id, file);
    return file;
  }
}

/** The id by which a part names a file that it does not have. */
function fileIdOf(part: Json): string | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type } = part;
  const holder = type === "file" ? part["file"] : part;
  const isFile = type === "file" || type === "input_file" || type === "input_image";
  if (!isFile || !isJsonObject(holder) || typeof holder["file_id"] !== "string") return undefined;
  const isHere = ["file_data", "file_url", "image_url"].some((name) => holder[name] != null);
  return isHere ? undefined : holder["file_id"];
}

function filenameOf(part: JsonObject): string | undefined {
  const holder = part["type"] === "file" ? part["file"] : part;
  const name = isJsonObject(holder) ? holder["filename"] : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}
