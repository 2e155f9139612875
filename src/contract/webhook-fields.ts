import * as z from "zod";
import { WEBHOOK_EVENTS } from "./constants.ts";

const LONGEST_URL = 2_000;

/** Refused, because a URL parser removes line breaks and tabs: the checked URL would differ from the given one. */
// oxlint-disable-next-line no-control-regex -- the expression has to match control characters
export const CONTROL = /[\u0000-\u001F\u007F-\u009F]/;

export const webhookUrlSchema = z
  .string()
  .max(LONGEST_URL, `must be at most ${LONGEST_URL} characters`)
  .superRefine((url, context) => {
    const message = urlIssue(url);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .describe(
    "https; http only on a server for this machine. Without user name, password and fragment.",
  );

function urlIssue(url: string): string | undefined {
  if (CONTROL.test(url) || /\s/.test(url)) {
    return "must not contain white space or control characters";
  }
  if (!URL.canParse(url)) return "must be a URL, for example https://example.com/hooks";
  const { protocol, username, password } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "must begin with https:// or http://";
  if (username !== "" || password !== "") return "must not contain a user name or password";
  return url.includes("#") ? "must not contain a fragment" : undefined;
}

export const eventsSchema = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1, "must name at least one event")
  .refine((events) => new Set(events).size === events.length, "must not name an event twice");
