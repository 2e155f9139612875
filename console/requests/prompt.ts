import type { HumanRequest } from "troupe/client";

/**
 * The question to a human; empty for the default prompt of AutoGen's console. The sentence with the address of a login is left
 * out, because a link has the address.
 */
export function promptOf({ prompt, url }: Pick<HumanRequest, "prompt" | "url">): string {
  const [before = "", ...after] = url === undefined ? [prompt] : prompt.split(url);
  const text = (after.length === 0 ? before : before.slice(0, before.lastIndexOf(".") + 1)).trim();
  return /^enter your response:?$/i.test(text) ? "" : text;
}

/** True if a text answers the request. A login answers itself when it is done, and a form has fields of its own. */
export function isQuestion({
  kind,
  login,
  form,
}: Pick<HumanRequest, "kind" | "login" | "form">): boolean {
  return kind === "input" && login === undefined && form === undefined;
}
