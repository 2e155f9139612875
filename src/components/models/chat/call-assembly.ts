import { isJsonObject, type Json, type JsonObject, parsedJson } from "../../../core/json.ts";
import type { FunctionCall } from "../../../core/models/llm-messages.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import { callArguments, GrowingArguments, isEmpty } from "./call-arguments.ts";

/** No answer has as many calls. Each part is compared with the calls before it. */
const MOST_CALLS = 1000;

/** The id of a call whose server gives none: results are matched to calls by their ids. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().slice(0, 8)}`;
}

/** A part of a tool call. A call that is not streamed is one part. */
export interface CallPart {
  index: number | undefined;
  id: string | undefined;
  /** Empty where the part has none. */
  name: string;
  /** The text of the arguments; empty where the part has none. */
  arguments: string;
  /** `extra_content`: provider data to send back with the call. */
  extra: JsonObject | undefined;
}

interface OpenCall extends Omit<CallPart, "arguments"> {
  arguments: GrowingArguments;
  /** Arguments before the parts of the arguments: they count where no part follows. */
  start: string;
}

/** A call, with the provider data to send back with it. */
export type AssembledCall = FunctionCall & { extra?: JsonObject };

/**
 * Assembles the calls of a reply by their meaning. Servers leave out the index or the id of a piece, give all calls the same
 * index, repeat the name in each piece, begin the arguments with an empty object, or send an empty call after the others.
 */
export class CallAssembly {
  readonly #calls: OpenCall[] = [];
  /** The call that was opened last at an index. */
  readonly #atIndex = new Map<number, OpenCall>();

  /** Adds the parts of one chunk. */
  add(parts: readonly CallPart[]): void {
    const extended = new Set<OpenCall>();
    for (const [place, part] of parts.entries()) {
      let open = this.#withId(part) ?? this.#continuedBy(part, parts.length - place);
      const isUnnumbered = part.index === undefined && part.id === undefined;
      // Parts of one chunk that only their order tells apart belong to different calls.
      if (open === undefined || (isUnnumbered && extended.has(open))) open = this.#open(part);
      else extend(open, part);
      extended.add(open);
    }
  }

  /** Adds calls of which each is whole. */
  addWhole(parts: readonly CallPart[]): void {
    for (const part of parts) this.#open(part);
  }

  /** Opens a call to which parts with its index belong from now on. Its arguments count where no others follow. */
  begin(part: CallPart): void {
    const open = this.#open({ ...part, arguments: "" });
    open.start = part.arguments;
  }

  /** The name of the call that was opened last at an index. */
  nameAt(index: number): string | undefined {
    return this.#atIndex.get(index)?.name;
  }

  /** True once a part of a call has arrived. */
  get hasBegun(): boolean {
    return this.#calls.length > 0;
  }

  /** The calls so far, each with its arguments as one JSON text. */
  get calls(): AssembledCall[] {
    const ids = new Set<string>();
    return this.#calls.flatMap(({ id: given, name, start, arguments: { text: parts }, extra }) => {
      const written = isEmpty(parts) ? start || parts : parts;
      if (name.trim() === "" && isEmpty(written)) return [];
      const id = given === undefined || ids.has(given) ? newCallId() : given;
      ids.add(id);
      const [first, ...others] = callArguments(written);
      return [
        { id, name, arguments: first, ...(extra && { extra }) },
        ...others.map((more) => ({ id: newCallId(), name, arguments: more })),
      ];
    });
  }

  #open(part: CallPart): OpenCall {
    const open = { ...part, start: "", arguments: new GrowingArguments() };
    open.arguments.add(part.arguments);
    this.#calls.push(open);
    requireFewCalls(this.#calls.length);
    if (open.index !== undefined) this.#atIndex.set(open.index, open);
    return open;
  }

  #withId({ id, index, name }: CallPart): OpenCall | undefined {
    if (id === undefined) return undefined;
    const ofId = this.#calls.filter((call) => call.id === id);
    const same = ofId.findLast((call) => call.index === index);
    // Some servers give each part an index of its own, others give all calls the same id.
    return same ?? (index === undefined || name === "" ? ofId.at(-1) : undefined);
  }

  /** @param fromEnd the place of the part in its chunk, counted from the end */
  #continuedBy(part: CallPart, fromEnd: number): OpenCall | undefined {
    const { index, id, name } = part;
    const last = this.#calls.at(-1);
    if (index === undefined) {
      const open = name === "" && id === undefined ? this.#calls.at(-fromEnd) : last;
      return open === undefined || beginsAnother(open, part) ? undefined : open;
    }
    const open = this.#atIndex.get(index);
    if (open !== undefined) return beginsAnother(open, part) ? undefined : open;
    const isRest =
      name === "" && id === undefined && last !== undefined && !last.arguments.isComplete;
    return isRest ? last : undefined;
  }
}

/** @throws ModelError for more calls than an answer may have. Another attempt would not have fewer. */
export function requireFewCalls(count: number): void {
  if (count <= MOST_CALLS) return;
  throw new ModelError("bad_response", `The model's answer has more than ${MOST_CALLS} calls`, {
    retryable: false,
  });
}

/** True if a part begins another call than the one at its place. */
function beginsAnother(open: OpenCall, { id, index, name, arguments: text }: CallPart): boolean {
  // Some servers give each part an id of its own.
  if (id !== undefined && open.id !== undefined) return name !== "" || open.arguments.isComplete;
  if (name === "" || open.name === "" || !open.arguments.isComplete) return false;
  if (name !== open.name) return true;
  if (text.trim() === "") return false;
  if (!isEmpty(open.arguments.text)) return true;
  // An empty object is a whole call beside another whole one, and a beginning before the parts of the real arguments.
  return parsedJson(text) !== undefined && (index === undefined || isEmpty(text));
}

function extend(open: OpenCall, { id, name, arguments: text, extra }: CallPart): void {
  open.id ??= id;
  if (name !== open.name) open.name += name;
  open.arguments.add(text);
  open.extra = extra ?? open.extra;
}

/**
 * The parts of calls in a message, or in a part of one.
 *
 * @param input not validated: a list of calls in OpenAI's form, or one of them. Anything else is left out
 */
export function callPartsOf(input: unknown): CallPart[] {
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  return list.flatMap((item) => (isJsonObject(item) ? [callPartOf(item)] : []));
}

function callPartOf(item: JsonObject): CallPart {
  const { index, id, function: inner, extra_content: extra } = item;
  const { name, arguments: args } = isJsonObject(inner) ? inner : item;
  return {
    index: typeof index === "number" ? index : undefined,
    id: typeof id === "number" ? String(id) : (typeof id === "string" && id) || undefined,
    name: typeof name === "string" ? name : "",
    arguments: argumentsText(args),
    extra: isJsonObject(extra) ? extra : undefined,
  };
}

/** The arguments of a call as text. Some servers send the object instead of its JSON. */
export function argumentsText(raw: Json | undefined): string {
  return typeof raw === "string" ? raw : raw == null ? "" : JSON.stringify(raw);
}
