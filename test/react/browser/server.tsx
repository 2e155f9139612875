import { renderToString } from "react-dom/server";
import type { AppOptions } from "../support/app-options.ts";
import { App } from "./app.tsx";

/** What a server sends of the page. */
export function rendered(options: AppOptions): string {
  return renderToString(<App options={options} />);
}
