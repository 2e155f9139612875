import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { argumentsText, requireFewCalls } from "../../chat/call-assembly.ts";
import { isEmpty } from "../../chat/call-arguments.ts";
import { itemOf, type OutputItem } from "./output.ts";

/** A call whose item has begun and is not complete. */
interface OpenCall {
  index: Json | undefined;
  item: JsonObject;
  /** The arguments of the events so far. */
  arguments: string;
}

/**
 * The items of a streamed response. Servers leave out the event that completes an item, or the arguments in it, or send items
 * only at the end: each call has the arguments that any of its events have.
 */
export class StreamedItems {
  readonly #whole: OutputItem[] = [];
  readonly #open: OpenCall[] = [];

  /** True once a call or a complete item has arrived. */
  get hasBegun(): boolean {
    return this.#open.length > 0 || this.#whole.length > 0;
  }

  /** An event that an item begins. */
  begin({ item, output_index: index }: JsonObject): void {
    if (isCall(item)) this.#begin({ index, item, arguments: "" });
  }

  /** An event with a part of a call's arguments. */
  addArguments(event: JsonObject): void {
    this.#openOf(event).arguments += argumentsText(event["delta"]);
  }

  /** An event with all of a call's arguments. */
  setArguments(event: JsonObject): void {
    const open = this.#openOf(event);
    const { name, arguments: args } = event;
    if (typeof name === "string" && !hasText(open.item["name"])) open.item = { ...open.item, name };
    if (!isEmpty(argumentsText(args))) open.arguments = argumentsText(args);
  }

  /** An event that completes an item. */
  complete({ item, output_index: index }: JsonObject): void {
    if (isJsonObject(item)) this.#whole.push(itemOf(this.#filled(item, index)));
  }

  /**
   * All items of the response.
   *
   * @param output the items of its last event: they count if no event completed as many
   */
  all(output: readonly JsonObject[]): OutputItem[] {
    const atEnd = output.map((item, index) => this.#filled(item, index));
    const items = atEnd.length > this.#whole.length ? atEnd.map(itemOf) : [...this.#whole];
    for (const open of this.#open)
      items.push(itemOf({ ...open.item, arguments: argumentsOf(open) }));
    return items;
  }

  /** A whole item, with what only earlier events say of it, which are used up. */
  #filled(item: JsonObject, index: Json | undefined): JsonObject {
    if (!isCall(item)) return item;
    const place = this.#placeOf([item["id"], item["call_id"]], index);
    const [open] = place === -1 ? [] : this.#open.splice(place, 1);
    if (open === undefined) return item;
    const isSilent = isEmpty(argumentsText(item["arguments"]));
    return {
      ...item,
      ...(isSilent && { arguments: argumentsOf(open) }),
      ...(!hasText(item["name"]) && hasText(open.item["name"]) && { name: open.item["name"] }),
    };
  }

  /** The call of an event with arguments, opened by it if no other event has. */
  #openOf({ item_id: id, output_index: index }: JsonObject): OpenCall {
    const place = this.#placeOf([id], index);
    const open =
      this.#open[place] ??
      (id === undefined && index === undefined ? this.#open.at(-1) : undefined);
    if (open !== undefined) return open;
    const item = { type: "function_call", ...(id !== undefined && { id }), name: "" };
    return this.#begin({ index, item, arguments: "" });
  }

  #begin(open: OpenCall): OpenCall {
    this.#open.push(open);
    requireFewCalls(this.#open.length);
    return open;
  }

  /** Ids come before indexes, because some servers give all items the same index. */
  #placeOf(ids: readonly (Json | undefined)[], index: Json | undefined): number {
    const knownIds = new Set(ids.filter(hasText));
    const byId = this.#open.findLastIndex(({ item }) =>
      [item["id"], item["call_id"]].some((id) => hasText(id) && knownIds.has(id)),
    );
    if (byId !== -1 || index === undefined) return byId;
    return this.#open.findLastIndex((open) => open.index === index);
  }
}

function argumentsOf({ item, arguments: parts }: OpenCall): string {
  return isEmpty(parts) ? argumentsText(item["arguments"]) : parts;
}

function isCall(item: Json | undefined): item is JsonObject {
  return isJsonObject(item) && item["type"] === "function_call";
}

function hasText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
