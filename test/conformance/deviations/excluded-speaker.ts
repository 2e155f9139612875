import {
  configOf,
  eventsOf,
  isProvider,
  mentions,
  messagesOf,
  type Place,
  recordedEvents,
  shapeOf,
} from "./place.ts";

/**
 * Deviation `excluded-speaker`: whether AutoGen let the previous speaker speak again in a team that does not allow it, where
 * Troupe chose another one. All before is as recorded.
 */
export function repeatsSpeaker({ step, played, subject }: Place): boolean {
  if (step.op !== "run" || step["error"] !== undefined) return false;
  const isStrict = mentions(
    subject,
    (node) =>
      isProvider("SelectorGroupChat")(node) && configOf(node)["allow_repeated_speaker"] === false,
  );
  const recorded = messagesOf(recordedEvents(step));
  const ours = messagesOf(eventsOf(played)).map(shapeOf);
  const at = recorded.findIndex((message, index) => shapeOf(message) !== ours[index]);
  const source = recorded[at]?.["source"];
  return isStrict && source !== undefined && source === recorded[at - 1]?.["source"];
}
