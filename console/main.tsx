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
