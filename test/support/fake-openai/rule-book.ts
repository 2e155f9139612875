import { lastUserText, systemText, textOf, type ChatRequest } from "./chat-request.ts";
import { parseRules, type Rule, type RuleInput } from "./rule.ts";

/** A promise that is kept from outside. */
interface Gate {
  opened: Promise<void>;
  open(): void;
}

function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The rules in force, what is left of their uses, and the gates of those that hold. */
export class RuleBook {
  #rules: Rule[] = [];
  readonly #left = new Map<Rule, number>();
  readonly #gates = new Map<string, Gate>();

  /** Replaces all rules. Requests that were held by the old ones continue. */
  set(rules: readonly RuleInput[]): void {
    const parsed = parseRules(rules);
    for (const gate of this.#gates.values()) gate.open();
    this.#gates.clear();
    this.#left.clear();
    this.#rules = [];
    this.#insert(parsed);
  }

  /** Adds rules before the others. */
  add(rules: readonly RuleInput[]): void {
    this.#insert(parseRules(rules));
  }

  /** Lets go the requests a rule holds; it holds no more, until {@link hold}. */
  release(name: string): void {
    this.#mustKnow(name);
    this.#gates.get(name)?.open();
    this.#gates.delete(name);
  }

  /** Lets a rule hold requests, again or for the first time. */
  hold(name: string): void {
    this.#mustKnow(name);
    if (!this.#gates.has(name)) this.#gates.set(name, createGate());
  }

  /** The first rule that matches, counted as used. */
  take(request: ChatRequest): Rule | undefined {
    const rule = this.#rules.find(
      (candidate) => this.#left.get(candidate) !== 0 && matches(candidate, request),
    );
    const left = rule && this.#left.get(rule);
    if (rule !== undefined && left !== undefined) this.#left.set(rule, left - 1);
    return rule;
  }

  /** What a rule's requests wait for after this many chunks; undefined when it does not hold them there. */
  gate(rule: Rule, chunks: number): Promise<void> | undefined {
    return rule.hold_after.includes(chunks) ? this.#gates.get(rule.name)?.opened : undefined;
  }

  #insert(rules: readonly Rule[]): void {
    this.#rules.unshift(...rules);
    for (const rule of rules) {
      if (rule.times !== undefined) this.#left.set(rule, rule.times);
      if (rule.hold) this.hold(rule.name);
    }
  }

  #mustKnow(name: string): void {
    const names = this.#rules.map((rule) => rule.name);
    if (!names.includes(name))
      throw new Error(`No rule '${name}'; there are: ${names.join(", ") || "none"}`);
  }
}

function matches({ match }: Rule, request: ChatRequest): boolean {
  const last = request.messages.at(-1);
  return (
    (match.text === undefined || textOf(last).includes(match.text)) &&
    (match.any === undefined || anyContains(request, match.any)) &&
    (match.user === undefined || lastUserText(request).includes(match.user)) &&
    (match.system === undefined || systemText(request).includes(match.system)) &&
    (match.role === undefined || last?.role === match.role) &&
    (match.model === undefined || request.model === match.model) &&
    (match.stream === undefined || (request.stream === true) === match.stream)
  );
}

function anyContains({ messages }: ChatRequest, text: string): boolean {
  return messages.some((message) => textOf(message).includes(text));
}
