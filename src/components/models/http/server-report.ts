import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { askedWait } from "./asked-wait.ts";

/** A server's report of a failure. */
export interface ServerReport {
  /** Its words, empty if it has none. */
  message: string;
  /** Its codes and types, the outermost first. */
  codes: string[];
  /** The HTTP status that stands among the codes. */
  status: number | undefined;
  /** Milliseconds to wait before another attempt. */
  waitMs: number | undefined;
  requestId: string | undefined;
}

/** Depth of errors inside errors: gateways wrap those of other gateways. */
const DEEPEST = 6;

/** Messages and codes beyond this number are not read: each is compared with those before it. */
const MOST_PARTS = 20;

const MESSAGES = [
  // Workers AI has its name as the message.
  "description",
  "message",
  "Message",
  "msg",
  "error_message",
  "error_msg",
  "status_msg",
  "errorMessage",
  "error_description",
  "detail",
  "reason",
  "title",
];
const CODES = [
  "code",
  "internalCode",
  "type",
  "__type",
  "status",
  "error_code",
  "errorCode",
  "status_code",
  "statusCode",
  "http_code",
  "error_type",
];
const INNER = [
  "error",
  "errors",
  "detail",
  "details",
  "innererror",
  "inner_error",
  "metadata",
  "raw",
  "body",
  "base_resp",
  "message",
];

/** Types that say no more than that something failed. */
const PLAIN_TYPES = new Set(["error", "errors", "none", "null", "unknown", "failed", "false"]);

/** Reads an error of a server, whatever its form: a text, an object, or several inside each other. */
export function reportOf(error: unknown): ServerReport {
  const messages: string[] = [];
  const codes: string[] = [];
  let requestId: string | undefined;
  const add = (value: unknown, depth: number): void => {
    if (depth > DEEPEST) return;
    if (Array.isArray(value)) {
      for (const item of value.slice(0, DEEPEST)) add(item, depth + 1);
      return;
    }
    if (typeof value === "string") {
      const inner = embeddedJson(value);
      if (inner !== undefined) add(inner, depth + 1);
      else addMessage(value.trim(), messages);
      return;
    }
    if (!isJsonObject(value)) return;
    const message = MESSAGES.map((name) => value[name]).find(isFilledText);
    for (const name of CODES) addCode(value[name], codes);
    const id = value["request_id"] ?? value["requestId"];
    if (isFilledText(id)) requestId ??= id;
    if (message !== undefined) add(message, depth + 1);
    for (const name of INNER) if (value[name] !== message) add(value[name], depth + 1);
  };
  add(error, 0);
  return {
    message: messages.join(": "),
    codes,
    status: codes.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600),
    waitMs: askedWait(error, messages.join(" ")),
    requestId,
  };
}

function isFilledText(value: Json | undefined): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function addMessage(message: string, messages: string[]): void {
  if (message === "" || messages.length === MOST_PARTS) return;
  if (!messages.some((known) => known.includes(message))) messages.push(message);
}

function addCode(value: Json | undefined, codes: string[]): void {
  if (typeof value !== "string" && typeof value !== "number") return;
  if (codes.length === MOST_PARTS) return;
  const code = String(value).trim();
  if (code === "" || PLAIN_TYPES.has(code.toLowerCase()) || codes.includes(code)) return;
  codes.push(code);
}

/** An error inside a text: gateways quote the whole body of an answer, also behind words of their own. */
function embeddedJson(text: string): unknown {
  const start = text.search(/[{[]\s*["{[]/);
  if (start === -1) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start));
    return start === 0 ? value : [text.slice(0, start).trim(), value];
  } catch {
    return undefined;
  }
}

/** Fields that only an answer, or a part of one, has. */
const OF_ANSWERS = [
  "choices",
  "delta",
  "content",
  "output",
  "response",
  "usage",
  "tool_calls",
  "done",
];

/** Fields of an error that stands at the top of a body. */
const OF_ERRORS = [
  "message",
  "msg",
  "detail",
  "error_msg",
  "error_message",
  "description",
  "Message",
];

/**
 * The error that a body, or an event of a stream, reports; undefined for an answer.
 * @param event the name of the event
 */
export function failureIn(value: Json, event?: string): Json | undefined {
  if (Array.isArray(value)) {
    const [first] = value;
    return first === undefined || Array.isArray(first) ? undefined : failureIn(first);
  }
  if (event === "error" && !isJsonObject(value)) return value;
  if (!isJsonObject(value)) return undefined;
  const isNamed = event === "error" || value["object"] === "error" || value["type"] === "error";
  if (isNamed || says(value["error"]) || hasErrors(value)) return value;
  const { base_resp: status } = value;
  if (status !== undefined && isJsonObject(status) && Number(status["status_code"] ?? 0) !== 0)
    return status;
  if (OF_ANSWERS.some((name) => value[name] !== undefined)) return undefined;
  const isError = OF_ERRORS.some((name) => isFilledText(value[name]) || Array.isArray(value[name]));
  return isError && typeof value["type"] !== "string" ? value : undefined;
}

function hasErrors({ errors, success }: JsonObject): boolean {
  return success === false || (Array.isArray(errors) && errors.some(says));
}

/** True if a field reports an error: servers also send it empty. */
export function says(error: Json | undefined): boolean {
  if (error === undefined || error === null || error === false || error === "" || error === 0)
    return false;
  if (Array.isArray(error)) return error.some(says);
  return isJsonObject(error) ? Object.values(error).some(says) : true;
}
