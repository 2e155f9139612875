import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Host, type HostContext } from "./host.ts";
import { RunView } from "./run-view.tsx";
import { placeOf, ShownRun } from "./shown-run.ts";

/** The page has the height of its content, at most this many pixels, unless its host sets a height. */
const HEIGHT_PX = 560;

let tool: NonNullable<HostContext["toolInfo"]>["tool"] | undefined;
/** Sends what can still be undone. */
let send = (): Promise<void> => Promise.resolve();

const page = document.documentElement;
const root = createRoot(document.querySelector("#root") as HTMLElement);

const host = new Host(parent, {
  onContext({ theme, toolInfo, containerDimensions }) {
    if (theme !== undefined) page.dataset["theme"] = theme;
    if (toolInfo !== undefined) ({ tool } = toolInfo);
    if (containerDimensions !== undefined) {
      const { height, maxHeight = HEIGHT_PX } = containerDimensions;
      page.style.setProperty("--height", `${height ?? Math.min(maxHeight, HEIGHT_PX)}px`);
    }
    draw();
  },
  onInput(given) {
    const { team_id: own, task } = given;
    const place = placeOf(given);
    if (place !== undefined) return shown.called(place);
    // Not every host names the tool.
    if (tool === undefined && typeof task !== "string") return undefined;
    const team = tool?._meta?.["troupe/team-id"] ?? given["team"] ?? own;
    return shown.called({
      ...(typeof team === "string" && { team_id: team }),
      call: { ...(tool && { tool: tool.name }), ...(typeof task === "string" && { task }) },
    });
  },
  onResult: (result) => shown.finished(result),
  onCancelled: () => shown.cancelled(),
  onTeardown: () => send(),
});
const shown = new ShownRun(host);

function draw(): void {
  root.render(
    <StrictMode>
      <RunView
        shown={shown}
        title={tool?.title ?? tool?.name}
        onLeaving={(sendAll) => {
          send = sendAll;
        }}
      />
    </StrictMode>,
  );
}

/** A frame of the host may not open other pages or store files itself. */
addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement)) return;
  const [, data] = /^data:[^,]*;base64,(.*)$/.exec(link.href) ?? [];
  const isTaken =
    data === undefined ? host.openLink(link.href) : host.download(link.download, data);
  if (isTaken) event.preventDefault();
});

/** Nor may it submit forms, for which a browser does not even report that one was submitted. */
addEventListener(
  "click",
  (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button?.type !== "submit" || button.form === null || button.disabled) return;
    event.preventDefault();
    button.form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
  },
  true,
);

addEventListener("pagehide", () => void send());
document.addEventListener("visibilitychange", () => {
  if (document.hidden) void send();
});

draw();
let height = 0;
new ResizeObserver(() => {
  const needed = Math.ceil(document.body.getBoundingClientRect().height);
  if (needed === height) return;
  height = needed;
  host.resize(needed);
}).observe(document.body);
void host.connect();
