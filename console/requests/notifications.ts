import { beginningOf } from "troupe/client";
import { useEffect, useRef, useState } from "react";
import type { ListedRequest } from "troupe/client";
import { visibleName } from "../text/foreign.ts";
import { promptOf } from "./prompt.ts";
import { keyOf } from "./use-kept.ts";

const KEY = "troupe.notify";

function isOn(): boolean {
  return (
    "Notification" in window &&
    Notification.permission === "granted" &&
    localStorage.getItem(KEY) === "on"
  );
}

/** The state of the browser's notifications about new questions, and the action that changes it. */
export function useNotifications(): {
  state: "on" | "off" | "blocked" | "unknown";
  change: () => Promise<void>;
} {
  const [on, setOn] = useState(isOn);
  const known = "Notification" in window;
  const blocked = known && Notification.permission === "denied";
  return {
    state: !known ? "unknown" : blocked ? "blocked" : on ? "on" : "off",
    change: async () => {
      if (on) localStorage.removeItem(KEY);
      else if ((await Notification.requestPermission()) === "granted") {
        localStorage.setItem(KEY, "on");
      }
      setOn(isOn());
    },
  };
}

/**
 * Announces questions that arrive while the page is not in use.
 *
 * @param loaded whether the questions are loaded; those of the first time are not new
 */
export function useAnnouncedRequests(
  requests: readonly ListedRequest[],
  loaded: boolean,
  onOpen: () => void,
): void {
  const known = useRef<ReadonlySet<string>>(undefined);
  const open = useRef(onOpen);
  open.current = onOpen;
  useEffect(() => {
    if (!loaded) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...requests.map((request) => keyOf(request))]);
    if (before === undefined || document.hasFocus() || !isOn()) return;
    for (const request of requests) {
      if (!before.has(keyOf(request))) announce(request, () => open.current());
    }
  }, [requests, loaded]);
}

function announce(request: ListedRequest, onOpen: () => void): void {
  const { source, kind, tool_call: call, code, login, team_label, team_id } = request;
  const asks =
    kind === "approval"
      ? `${source} asks for your approval${call ? ` to call ${call.name}` : code ? " to run code" : ""}`
      : `${source} is waiting for ${kind === "tool" ? "a result" : login === undefined ? "your answer" : "a login"}`;
  // With the same tag, several tabs show one notification.
  const notification = new Notification(visibleName(asks), {
    body: [team_label ?? team_id, promptOf(request)]
      .map((text) => beginningOf(visibleName(text), 200))
      .join("\n"),
    tag: keyOf(request),
    icon: "/favicon.svg",
  });
  notification.addEventListener("click", () => {
    window.focus();
    onOpen();
    notification.close();
  });
}
