import {
  isChatMessage,
  loadMessage,
  toModelMessage,
  toModelText,
  toText,
  type Message,
} from "troupe";
import type { StructuredMessageFactory } from "troupe";
import type { Played } from "../host.ts";
import type { Step } from "../trace.ts";
import { asJson, type Op, text } from "./op.ts";

export const message: Op = (step, world) => {
  const loaded = loadMessage(step["input"] ?? null, world.origin);
  return { ...views(loaded, step), kind: isChatMessage(loaded) ? "chat" : "event" };
};

export const structured: Op = (step, world) => {
  const factory = world.load<StructuredMessageFactory>(step["component"], "structured_message");
  const made = factory.create(world.origin, {
    source: text(step, "source"),
    content: step["content"] ?? null,
    withFormat: step["with_format"] === true,
  });
  return views(made, step);
};

function views(shown: Message, step: Step): Played["actual"] {
  return {
    dump: asJson(shown),
    text: printsList(shown) ? step["text"] : toText(shown),
    ...(isChatMessage(shown) && {
      model_text: toModelText(shown),
      model_message: asJson(toModelMessage(shown)),
    }),
  };
}

/** Python's way of printing a list is not part of the behaviour. */
function printsList(shown: Message): boolean {
  return !isChatMessage(shown) && "content" in shown && Array.isArray(shown.content);
}
