import { beginningOf } from "./cut.ts";
import type { Json } from "./json.ts";

/** One thing that is wrong with an input, and where: `component.config.name`. */
export interface Issue {
  path: string;
  message: string;
}

/** The data of every Troupe error besides its message. */
export interface TroupeErrorOptions {
  /** Facts a program can use, JSON only. */
  data?: { [key: string]: Json } | undefined;
  /** The places that are wrong, for input errors. */
  issues?: Issue[] | undefined;
  cause?: unknown;
}

/**
 * Base of all errors thrown on purpose. `code` is stable snake_case and part of the public contract;
 * messages may be reworded.
 */
export class TroupeError extends Error {
  readonly code: string;
  readonly data: { [key: string]: Json };
  readonly issues: Issue[];

  constructor(code: string, message: string, options: TroupeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.data = options.data ?? {};
    this.issues = options.issues ?? [];
  }
}

/** Why a component could not be loaded. */
export type ComponentErrorKind =
  | "unknown_provider"
  | "wrong_type"
  | "validation"
  | "value"
  | "old_version";

/** Component JSON that cannot be loaded. `code` is `component_<kind>`. */
export class ComponentError extends TroupeError {
  readonly kind: ComponentErrorKind;

  constructor(kind: ComponentErrorKind, message: string, options: TroupeErrorOptions = {}) {
    super(`component_${kind}`, message, options);
    this.kind = kind;
  }
}

/** An argument or setting with the right type and an invalid value. */
export class ValueError extends TroupeError {
  constructor(message: string, options: TroupeErrorOptions = {}) {
    super("invalid_value", message, options);
  }
}

/** A message that does not fit its type's schema. */
export class MessageError extends TroupeError {
  constructor(message: string, options: TroupeErrorOptions = {}) {
    super("invalid_message", message, options);
  }
}

/** A saved state that does not fit the component it is loaded into. Nothing was changed. */
export class StateError extends TroupeError {
  constructor(message: string, options: TroupeErrorOptions = {}) {
    super("invalid_state", message, options);
  }
}

/** The messages given to a run are not acceptable to the team. */
export class TaskError extends TroupeError {
  constructor(message: string, options: TroupeErrorOptions = {}) {
    super("invalid_task", message, options);
  }
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For logs. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? errorMessage(error)) : errorMessage(error);
}

/** A short form of a value for an error message. */
export function shortForm(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(cut(value));
  if (typeof value === "function")
    return value.name === "" ? "a function" : `the function ${value.name}`;
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object" || value === null) return String(value);
  const { constructor } = value;
  if (typeof constructor !== "function" || constructor === Object) {
    return `an object with ${cut(Object.keys(value).join(", ")) || "no keys"}`;
  }
  return `an object of the class ${constructor.name}`;
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${beginningOf(text, 60)}…`;
}
