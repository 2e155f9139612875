import type { ScheduleInfo } from "troupe/client";
import { visibleName } from "../text/foreign.ts";

type ScheduledTask = ScheduleInfo["task"];

/** The text of a task that consists of text only; undefined for other tasks. */
export function textOfTask(task: ScheduledTask): string | undefined {
  if (task === null) return "";
  if (typeof task === "string") return task;
  const messages = messagesOf(task);
  const [message] = messages;
  if (messages.length !== 1 || message?.type !== "TextMessage") return undefined;
  const { source, content } = message;
  return source === "user" && typeof content === "string" ? content : undefined;
}

/** A short description of a task. */
export function summaryOfTask(task: ScheduledTask): string {
  const text = textOfTask(task);
  if (text === "") return "Continues without a task";
  if (text !== undefined) return visibleName(text);
  return messagesOf(task)
    .map(({ content }) =>
      typeof content === "string" ? visibleName(content) : "(images or files)",
    )
    .join(" ");
}

interface Message {
  type?: unknown;
  source?: unknown;
  content?: unknown;
}

function messagesOf(task: ScheduledTask): readonly Message[] {
  return (Array.isArray(task) ? task : [task]) as readonly Message[];
}
