import type { HumanRequest } from "../../../../contract/run.ts";

/** A tool call that the client shows without its result. */
export interface ToolPart {
  /** Its id on the client; the call's, unless an earlier one has the same: models use ids again. */
  id: string;
  callId: string;
  /** The agent; undefined for what the client had before the stream began. */
  source: string | undefined;
  /** The message of the run that made the call, where it is known. */
  message: string | undefined;
  /** The question about it. */
  request: string | undefined;
  /** The client shows a result that it made itself. */
  own: boolean;
}

/** The suffix that distinguishes calls with the same id. */
export const COUNT = /~\d+$/;

/** The tool calls that wait for their results. */
export class ToolParts {
  readonly #open: ToolPart[] = [];
  readonly #used = new Set<string>();

  get size(): number {
    return this.#open.length;
  }

  all(): readonly ToolPart[] {
    return [...this.#open];
  }

  add(part: Omit<ToolPart, "id">): ToolPart {
    const { callId } = part;
    let id = callId;
    for (let count = 2; this.#used.has(id); count++) id = `${callId}~${count}`;
    return this.#take({ ...part, id });
  }

  /** A call that the client has from an earlier stream. */
  restore(id: string, own: boolean): void {
    const callId = id.replace(COUNT, "");
    this.#take({ id, callId, source: undefined, message: undefined, request: undefined, own });
  }

  #take(part: ToolPart): ToolPart {
    this.#used.add(part.id);
    this.#open.push(part);
    return part;
  }

  /** The open call with an id that an agent's model has given it. */
  find(source: string, callId: string): ToolPart | undefined {
    return this.#open.find(
      (part) => part.callId === callId && (part.source === undefined || part.source === source),
    );
  }

  /** The call that a question is about, where it is about one. @param open all open questions */
  ofRequest({ source, tool_call: call }: HumanRequest, open: readonly HumanRequest[]) {
    const isAsked = ({ request }: ToolPart): boolean => open.some(({ id }) => id === request);
    return this.#open.find(
      (part) =>
        part.callId === call?.call_id &&
        (part.source === undefined || part.source === source) &&
        !isAsked(part),
    );
  }

  delete(part: ToolPart): void {
    const index = this.#open.indexOf(part);
    if (index !== -1) this.#open.splice(index, 1);
  }

  clear(): void {
    this.#open.length = 0;
    this.#used.clear();
  }
}
