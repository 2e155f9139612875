// oxlint-disable-next-line import/no-unassigned-import -- the bundler makes a file of it
import "./styles/index.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Session } from "./shell/session.tsx";
import { applyTheme } from "./shell/theme.ts";

applyTheme();
createRoot(document.querySelector("#root") as HTMLElement).render(
  <StrictMode>
    <Session />
  </StrictMode>,
);
