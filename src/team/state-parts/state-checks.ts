import { type StateRow, stateRowSchema } from "../../contract/team/state-parts.ts";
import { isBase64 } from "../../core/base64.ts";
import { errorMessage, StateError } from "../../core/errors.ts";
import { issuesOf, listIssues } from "../../core/issues.ts";
import { isJsonObject } from "../../core/json.ts";
import { isMessage } from "../../core/messages/message-factory.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { StateTree } from "../../core/state/state-tree.ts";
import type { Snapshot } from "../storage/log/commits.ts";

/** Checks the rows of a state against the component that will load it. */
export class StateChecks {
  readonly #subject: Runnable;
  readonly #other: Runnable;
  readonly #tree: StateTree;

  /** @param subject a component built for the checks, and so is `other` */
  constructor(subject: Runnable, other: Runnable) {
    this.#subject = subject;
    this.#other = other;
    this.#tree = new StateTree(subject);
  }

  /** @param number the line number in its part @throws StateError */
  read(line: string, number: number): StateRow {
    const { data, error } = stateRowSchema.safeParse(parse(line));
    if (error === undefined) return data;
    const path = `line ${number}`;
    const issues = issuesOf(error, path);
    throw new StateError(listIssues(issues), { issues });
  }

  /** @param body the row's body; null if its JSON came in lines before the row @throws StateError */
  require(row: StateRow, body: unknown): void {
    switch (row.type) {
      case "head":
        return this.#requireHeads(row.path, row.body ?? storedHeads(body));
      case "log": {
        const items = valueOf(body);
        if (!Array.isArray(items) || items.length !== row.count) {
          throw wrong(row.path, `count is ${row.count}; the body has another number of items`);
        }
        this.#tree.requireItems(row.path, items);
        return;
      }
      case "message":
        if (!isMessage(valueOf(body))) throw wrong(`seq ${row.seq}`, "the body is not a message");
        return;
      case "text":
        if (!isBase64(row.body)) throw wrong(row.of, "the body is not base64");
    }
  }

  close(): void {
    for (const runnable of [this.#subject, this.#other]) {
      void runnable.close().catch(() => undefined);
    }
  }

  /** Checks that the heads make a state that the component can load, like any saved state. */
  #requireHeads(path: string, values: unknown): void {
    if (!isJsonObject(values)) throw wrong(path, "the body has no heads");
    const heads: Snapshot = values;
    this.#tree.requireHeads(Object.keys(heads));
    try {
      this.#tree.restore({ head: (one) => heads[one], log: () => undefined });
      this.#other.loadState(this.#subject.saveState());
    } catch (error) {
      if (error instanceof StateError) throw error;
      throw wrong("head", errorMessage(error), error);
    }
  }
}

/** Returns undefined for invalid JSON, which no row is. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function valueOf(body: unknown): unknown {
  return typeof body === "string" ? parse(body) : body;
}

/** The values of a head that came as it is stored. */
function storedHeads(body: unknown): unknown {
  const stored = valueOf(body);
  return isJsonObject(stored) ? stored["heads"] : undefined;
}

function wrong(path: string, message: string, cause?: unknown): StateError {
  return new StateError(`${path}: ${message}`, { issues: [{ path, message }], cause });
}
