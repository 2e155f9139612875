import type { JsonObject } from "../../core/json.ts";
import type { AssistantMessage, MakerData } from "../../core/models/llm-messages.ts";
import { type GivenFields, givenFields, reasonedFields, signedFields } from "./given-fields.ts";
import type { Maker } from "./maker.ts";

/** One way to make a request whose conversation has what a maker gave, or lacks it. */
export interface Form {
  /**
   * `given`: with what the maker gave. `filled`: the same, with placeholders for missing reasoning. `blank`: with placeholders
   * only. `plain`: with nothing. Missing signatures have placeholders in all of them.
   */
  calls: "given" | "filled" | "blank" | "plain";
  /** Fields of the request that go with it. */
  fields?: JsonObject;
  /** What it leaves out. */
  note?: string;
}

const GIVEN: Form = { calls: "given" };
const FILLED: Form = {
  calls: "filled",
  note: "asked with placeholders for reasoning that is missing: calls before are of another model, or from an older state",
};
const BLANK: Form = {
  calls: "blank",
  note: "asked with placeholders for reasoning that the server refused",
};
const PLAIN: Form = { calls: "plain", note: "asked without what the server refused to take back" };
const OFF =
  "asked without thinking: calls before have no reasoning that the server takes back (another model's, or from an older state)";

/** What goes back to the maker of a client's model. */
export class GivenBack {
  readonly #maker: Maker;
  readonly #model: string;
  /** What the server did not accept: it belongs to another key, or has changed. */
  readonly #refused = new WeakSet<MakerData>();

  constructor(maker: Maker, model: string) {
    this.#maker = maker;
    this.#model = model;
  }

  /** The ways to make a request with these messages, the best first. */
  forms(turns: readonly AssistantMessage[]): [Form, ...Form[]] {
    const { calls, off } = this.#maker;
    const given = turns.map((turn) => this.#givenTo(turn));
    const carried = given.some((fields) => fields && Object.keys(fields).length > 0);
    const withCalls = turns.map(({ content }) => typeof content !== "string");
    if (calls !== "reasoned" || !withCalls.includes(true))
      return carried ? [GIVEN, PLAIN] : [GIVEN];
    const isMissing = given.some((fields, index) => withCalls[index] && fields === undefined);
    const last = carried || !isMissing ? [BLANK] : [];
    if (off === undefined) return [isMissing ? FILLED : GIVEN, ...last];
    return isMissing
      ? [{ ...GIVEN, fields: off, note: OFF }, FILLED, ...last]
      : [GIVEN, { ...PLAIN, fields: off, note: OFF }, ...last];
  }

  /** The fields of one message. */
  fields(message: AssistantMessage, calls: Form["calls"]): GivenFields | undefined {
    const isWithout = calls === "plain" || calls === "blank";
    const given = isWithout ? undefined : this.#givenTo(message);
    if (this.#maker.calls === "signed") return signedFields(given ?? {}, message);
    const isFilled = calls === "filled" || calls === "blank";
    return isFilled ? reasonedFields(given ?? {}, message) : given;
  }

  refuse(turns: readonly AssistantMessage[]): void {
    for (const { troupe } of turns) if (troupe !== undefined) this.#refused.add(troupe);
  }

  #givenTo(message: AssistantMessage): GivenFields | undefined {
    const { troupe } = message;
    if (troupe === undefined || this.#refused.has(troupe)) return undefined;
    return givenFields(message, this.#maker, this.#model);
  }
}
