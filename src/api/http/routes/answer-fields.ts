import type { AskedRequest } from "../../../contract/run.ts";
import { isJsonObject, type Json, type JsonObject, parsedJson } from "../../../core/json.ts";
import { escaped } from "./html-page.ts";

/** The prefix of the names of a form's own fields. */
const FIELD = "field.";

/** Fields of a form beyond which it is answered as JSON. */
const MOST_FIELDS = 50;

interface Choice {
  /** As JSON, which keeps its type. */
  value: string;
  label: string;
}

/** A field of a form by its JSON Schema. */
interface Field {
  name: string;
  label: string;
  about: string;
  isRequired: boolean;
  type: "text" | "number" | "choice" | "choices" | "json";
  choices: readonly Choice[];
  initial: Json | undefined;
}

/** The fields and buttons that answer a request, as HTML without scripts. */
export function answerFields(request: AskedRequest): string {
  const { kind, form } = request;
  if (kind === "approval") {
    return `${revisionField(request)}<label>Reason<textarea name="reason" rows="3" maxlength="10000"></textarea></label><button name="approved" value="true">Approve</button> <button name="approved" value="false">Refuse</button>`;
  }
  if (form === undefined) {
    return `<label>Answer<textarea name="content" rows="5" required></textarea></label><button>Send</button>`;
  }
  const fields = fieldsOf(form.schema);
  const link =
    form.url === undefined || !/^https?:/i.test(form.url)
      ? ""
      : `<p>Open this page first: <a href="${escaped(form.url)}" rel="noreferrer noopener" target="_blank">${escaped(form.url)}</a></p>`;
  const asked =
    fields === undefined
      ? `<label>Answer as JSON<textarea name="content" rows="5">{}</textarea></label>`
      : fields.map(control).join("");
  const cancel =
    form.cancel === true
      ? ` <button name="action" value="cancel" formnovalidate>Cancel</button>`
      : "";
  return `${link}${asked}<button name="action" value="send">Send</button> <button name="action" value="decline" formnovalidate>Decline</button>${cancel}`;
}

/** The answer in a form that was sent; a sentence where it is none. */
export function answerOf({ kind, form }: AskedRequest, sent: FormData): JsonObject | string {
  const text = (name: string): string | undefined => {
    const value = sent.get(name);
    return typeof value === "string" ? value : undefined;
  };
  if (kind === "approval") {
    const approved = text("approved");
    if (approved !== "true" && approved !== "false") {
      return 'The field "approved" must be true or false.';
    }
    const reason = text("reason")?.trim() ?? "";
    if (reason.length > 10_000) return 'The field "reason" must be at most 10,000 characters.';
    const revision = Number(text("revision"));
    return {
      approved: approved === "true",
      ...(reason !== "" && { reason }),
      ...(revision > 0 && { revision }),
    };
  }
  if (form === undefined) {
    const content = text("content") ?? "";
    return content.trim() === "" ? 'The field "content" is empty: it is the answer.' : { content };
  }
  const action = text("action");
  if (action === "decline" || (action === "cancel" && form.cancel === true)) {
    return { content: action };
  }
  const fields = fieldsOf(form.schema);
  if (fields === undefined) return { content: text("content") ?? "{}" };
  // An answer to a form without fields is a confirmation.
  if (fields.length === 0) return { content: form.url === undefined ? "{}" : "accept" };
  const given: JsonObject = {};
  for (const field of fields) {
    const values = sent.getAll(FIELD + field.name).filter((one) => typeof one === "string");
    const value = valueOf(field, values);
    if (value === MISSING && field.isRequired) return `The field "${field.name}" is missing.`;
    if (value === INVALID) return `The field "${field.name}" has another form than is asked for.`;
    if (typeof value !== "symbol") given[field.name] = value;
  }
  return { content: JSON.stringify(given) };
}

/** An answer counts for the arguments that its page has shown. */
function revisionField(request: AskedRequest): string {
  const revision = "revision" in request ? request.revision : undefined;
  return typeof revision === "number"
    ? `<input type="hidden" name="revision" value="${revision}">`
    : "";
}

const MISSING = Symbol("missing");
const INVALID = Symbol("invalid");

function valueOf({ type, choices }: Field, values: readonly string[]): Json | symbol {
  const [first = ""] = values;
  switch (type) {
    case "text":
      return first === "" ? MISSING : first;
    case "number":
      if (first.trim() === "") return MISSING;
      return Number.isFinite(Number(first)) ? Number(first) : INVALID;
    case "choice":
      if (first === "") return MISSING;
      return choices.some(({ value }) => value === first) ? parsed(first) : INVALID;
    case "choices":
      return values.every((one) => choices.some(({ value }) => value === one))
        ? values.map((one) => parsed(one))
        : INVALID;
    case "json":
      return first.trim() === "" ? MISSING : (parsedJson(first) ?? INVALID);
  }
}

function parsed(text: string): Json {
  return parsedJson(text) ?? null;
}

/** Undefined for a schema that makes no form. */
function fieldsOf(schema: JsonObject): Field[] | undefined {
  const { properties = {}, required = [] } = schema;
  if (!isJsonObject(properties)) return undefined;
  const entries = Object.entries(properties);
  if (entries.length > MOST_FIELDS) return undefined;
  const needed = Array.isArray(required) ? required : [];
  return entries.map(([name, about]) => fieldOf(name, about, needed.includes(name)));
}

function fieldOf(name: string, about: Json, isRequired: boolean): Field {
  const schema = isJsonObject(about) ? about : {};
  const { title, description, type, default: initial, items } = schema;
  const common = {
    name,
    label: typeof title === "string" ? title : name,
    about: typeof description === "string" ? description : "",
    isRequired,
    initial,
  };
  const choices = type === "boolean" ? YES_OR_NO : choicesOf(schema);
  if (choices.length > 0) return { ...common, type: "choice", choices };
  const several = type === "array" && isJsonObject(items) ? choicesOf(items) : [];
  if (several.length > 0) return { ...common, type: "choices", choices: several };
  if (type === "number" || type === "integer") return { ...common, type: "number", choices: [] };
  return { ...common, type: type === "string" ? "text" : "json", choices: [] };
}

const YES_OR_NO: readonly Choice[] = [
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
];

function choicesOf({ enum: values, enumNames: names, oneOf, anyOf }: JsonObject): Choice[] {
  if (Array.isArray(values)) {
    return values.map((value, index) => {
      const name = Array.isArray(names) ? names[index] : undefined;
      return choice(value, name);
    });
  }
  const named = Array.isArray(oneOf) ? oneOf : anyOf;
  if (!Array.isArray(named)) return [];
  const choices = named.flatMap((one) =>
    isJsonObject(one) && one["const"] !== undefined ? [choice(one["const"], one["title"])] : [],
  );
  return choices.length === named.length ? choices : [];
}

function choice(value: Json, name: Json | undefined): Choice {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { value: JSON.stringify(value), label: typeof name === "string" ? name : text };
}

function control({ name, label, about, isRequired, type, choices, initial }: Field): string {
  const id = escaped(FIELD + name);
  const words = `${escaped(label)}${about === "" ? "" : ` <small>${escaped(about)}</small>`}`;
  const needed = isRequired ? " required" : "";
  const given = initial === undefined ? "" : JSON.stringify(initial);
  if (type === "choice") {
    const options = choices.map(
      (one) =>
        `<option value="${escaped(one.value)}"${one.value === given ? " selected" : ""}>${escaped(one.label)}</option>`,
    );
    return `<label>${words}<br><select name="${id}"${needed}><option value=""></option>${options.join("")}</select></label>`;
  }
  if (type === "choices") {
    const chosen = Array.isArray(initial) ? initial.map((one) => JSON.stringify(one)) : [];
    const boxes = choices.map(
      (one) =>
        `<label><input type="checkbox" name="${id}" value="${escaped(one.value)}"${chosen.includes(one.value) ? " checked" : ""}> ${escaped(one.label)}</label>`,
    );
    return `<fieldset><legend>${words}</legend>${boxes.join("")}</fieldset>`;
  }
  const value = typeof initial === "string" ? initial : given;
  if (type === "number") {
    return `<label>${words}<br><input type="number" step="any" name="${id}" value="${escaped(value)}"${needed}></label>`;
  }
  return `<label>${words}<br><textarea name="${id}" rows="2"${needed}>${escaped(value)}</textarea></label>`;
}
