import {
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  withoutExactNumbers,
} from "../../../core/json.ts";
import { readCallResult, readPromptResult, readResourceResult } from "./contents.ts";
import { LISTS, readEntries, withoutGaps } from "./lists.ts";

/** Results of methods that are not lists. */
const RESULTS: ReadonlyMap<string, (result: Json) => JsonObject> = new Map([
  ["tools/call", readCallResult],
  ["resources/read", readResourceResult],
  ["prompts/get", readPromptResult],
  ["initialize", readHandshake],
]);

/** The revision that the protocol assumes where a server names none. */
const UNNAMED_REVISION = "2025-03-26";
const SERVER_ERROR = -32_000;
const METHOD_NOT_FOUND = -32_601;

/** Entries of lists that were left out, by the method of the list. */
export type LeftOut = Map<string, string[]>;

/** The key of requests of the revisions since 2026-07-28. */
const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";

interface SentRequest {
  id: string | number;
  method: string;
  modern: boolean;
}

/**
 * The messages of a connection. Answers are read as servers write them, and become what the SDK takes: it would refuse a whole answer
 * for one field. What has no clear meaning stays as it is, and is the SDK's error.
 */
export class ServerMessages {
  readonly #leftOut: LeftOut;
  /** Requests without an answer yet. */
  readonly #sent = new Map<string, SentRequest>();
  /** The cursors of each list since its first page. */
  readonly #cursors = new Map<string, Set<string>>();
  /** The server did not say what it has. */
  #saidNothing = false;

  /** @param leftOut gets what is left out of lists */
  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
  }

  /** Takes note of a message to the server. Returns whether it is one of the protocol. */
  sent(message: unknown): boolean {
    const messages = [message].flat().filter(isProtocolMessage);
    for (const { id, method, params } of messages) {
      if (typeof method !== "string" || (typeof id !== "string" && typeof id !== "number"))
        continue;
      const { cursor, _meta } = isJsonObject(params) ? params : {};
      const modern = isJsonObject(_meta) && REVISION_KEY in _meta;
      this.#sent.set(String(id), { id, method, modern });
      if (!LISTS.has(method)) continue;
      if (typeof cursor === "string") this.#cursors.get(method)?.add(cursor);
      else {
        this.#cursors.set(method, new Set());
        this.#leftOut.delete(method);
      }
    }
    return messages.length > 0;
  }

  /**
   * The messages in a text, of which a server may send several in a list.
   *
   * @throws SyntaxError for a text that is not JSON
   */
  read(text: string): Json[] {
    return [parsed(text)].flat().map((message) => withoutExactNumbers(this.#read(message)));
  }

  #read(message: Json): Json {
    if (!isJsonObject(message)) return message;
    const { id, method, params, result, error } = message;
    if (typeof method === "string") {
      return withoutGaps({
        jsonrpc: "2.0",
        id: id ?? undefined,
        method,
        params: isJsonObject(params) ? withoutNulls(method, params) : undefined,
      });
    }
    const request = this.#answered(id);
    if (request === undefined) return message;
    const envelope = { jsonrpc: "2.0", id: request.id };
    if (error != null && error !== false) {
      const read = readError(error);
      return read.code === METHOD_NOT_FOUND && this.#mayBeMissing(request.method)
        ? { ...envelope, result: this.#result(request, {}) }
        : { ...envelope, error: read };
    }
    return result === undefined ? message : { ...envelope, result: this.#result(request, result) };
  }

  /** The request that an answer belongs to: the only one if the answer has no id. */
  #answered(id: Json | undefined): SentRequest | undefined {
    const [only, another] = this.#sent.keys();
    const alone = another === undefined ? only : undefined;
    const key = id == null ? alone : typeof id === "string" ? id : JSON.stringify(id);
    if (key === undefined) return undefined;
    const request = this.#sent.get(key);
    this.#sent.delete(key);
    return request;
  }

  /** A server may declare resources without templates for them. It has tools if it says so. */
  #mayBeMissing(method: string): boolean {
    return LISTS.has(method) && (method !== "tools/list" || this.#saidNothing);
  }

  #result({ method, modern }: SentRequest, input: Json): Json {
    // Questions of the server have a form of their own.
    if (isJsonObject(input) && (input["resultType"] ?? "complete") !== "complete") return input;
    const kind = LISTS.get(method);
    if (kind !== undefined) {
      const reasons = this.#leftOut.get(method) ?? [];
      this.#leftOut.set(method, reasons);
      const entries = readEntries(kind, input, (reason) => reasons.push(reason));
      const page = this.#page(method, isJsonObject(input) ? input : {});
      return withMarks({ ...page, [kind.field]: entries }, modern);
    }
    const read = RESULTS.get(method)?.(input);
    if (read === undefined) return input;
    if (method !== "initialize") return withMarks(read, modern);
    this.#saidNothing = offersOf(input).length === 0;
    return read;
  }

  /** The rest of a page, without a cursor that leads nowhere or back. */
  #page(method: string, raw: JsonObject): JsonObject {
    const { nextCursor, _meta, ...rest } = raw;
    const next =
      typeof nextCursor === "string" || typeof nextCursor === "number" ? String(nextCursor) : "";
    const isNew = next !== "" && this.#cursors.get(method)?.has(next) !== true;
    return {
      ...rest,
      ...(isNew && { nextCursor: next }),
      ...(isJsonObject(_meta) && { _meta }),
    };
  }
}

function isProtocolMessage(value: unknown): value is JsonObject {
  return isJsonObject(value) && "jsonrpc" in value;
}

/** Servers in Python may write NaN and Infinity, which JSON does not have. */
function parsed(text: string): Json {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return parseJson(json);
  } catch (error) {
    const mended = json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (token) =>
      token.startsWith('"') ? token : "null",
    );
    if (mended === json) throw error;
    return parseJson(mended);
  }
}

/** With the fields that the revisions since 2026-07-28 require of a result. */
function withMarks(result: JsonObject, modern: boolean): JsonObject {
  if (!modern) return result;
  const { ttlMs, cacheScope } = result;
  return {
    ...result,
    resultType: "complete",
    ttlMs: typeof ttlMs === "number" && Number.isInteger(ttlMs) && ttlMs >= 0 ? ttlMs : 0,
    cacheScope: cacheScope === "public" ? cacheScope : "private",
  };
}

function readError(error: Json): { code: number; message: string; data?: Json } {
  if (!isJsonObject(error)) {
    return {
      code: SERVER_ERROR,
      message: typeof error === "string" ? error : JSON.stringify(error),
    };
  }
  const { code, message, data } = error;
  const number = Number(code);
  const isCode = code != null && Number.isInteger(number);
  const said = typeof message === "string" ? message : JSON.stringify(message ?? data ?? error);
  return {
    code: isCode ? number : SERVER_ERROR,
    message: isCode || code == null ? said : `${said} (${JSON.stringify(code)})`,
    ...(data !== undefined && { data }),
  };
}

/** The server's capabilities and name. A server that declares nothing is asked for its tools. */
function readHandshake(input: Json): JsonObject {
  const result = isJsonObject(input) ? input : {};
  const { protocolVersion, capabilities, serverInfo, instructions, _meta, ...rest } = result;
  const offered = offersOf({ capabilities: capabilities ?? null });
  const parts = offered.flatMap(([name, value]): [string, JsonObject][] =>
    value === null || value === false ? [] : [[name, isJsonObject(value) ? flags(value) : {}]],
  );
  const { name, version, ...about } = isJsonObject(serverInfo) ? serverInfo : {};
  return withoutGaps({
    ...rest,
    protocolVersion: typeof protocolVersion === "string" ? protocolVersion : UNNAMED_REVISION,
    capabilities: offered.length === 0 ? { tools: {} } : Object.fromEntries(parts),
    serverInfo: {
      ...(typeof about["title"] === "string" && { title: about["title"] }),
      name: typeof name === "string" ? name : "unknown",
      version: typeof version === "string" ? version : JSON.stringify(version ?? 0),
    },
    instructions: typeof instructions === "string" ? instructions : undefined,
    _meta: isJsonObject(_meta) ? _meta : undefined,
  });
}

function offersOf(input: Json): [string, Json][] {
  const capabilities = isJsonObject(input) ? input["capabilities"] : undefined;
  return isJsonObject(capabilities) ? Object.entries(capabilities) : [];
}

/** A capability without fields that are not set. */
function flags(capability: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(capability).filter(([, value]) => value !== null));
}

/** Progress without a total is often sent with null. */
function withoutNulls(method: string, params: JsonObject): JsonObject {
  return method === "notifications/progress" ? flags(params) : params;
}
