import { createRoot, hydrateRoot } from "react-dom/client";
import type { AppOptions } from "../support/app-options.ts";
import { App, renderings } from "./app.tsx";

// Shows the app with the options in the page's hash: on what the server rendered, if it did.

const options = JSON.parse(decodeURIComponent(location.hash.slice(1))) as AppOptions;
const root = document.querySelector("main");
if (root === null) throw new Error("the page has no root");
Object.assign(globalThis, { renderings });

if (root.hasChildNodes()) {
  hydrateRoot(root, <App options={options} />, { onRecoverableError: reportError });
} else {
  createRoot(root).render(<App options={options} />);
}
