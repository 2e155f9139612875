import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { sharedLinkIn } from "./share/link.ts";
import { OutdatedPage } from "./shell/outdated-page.tsx";
import { Session } from "./shell/session.tsx";
import { applyTheme } from "./shell/theme.ts";

const SharedPage = lazy(() => import("./share/shared-page.tsx"));

applyTheme();
const shared = sharedLinkIn(location);
// Another link of the same team differs in the fragment only.
if (shared !== undefined) addEventListener("hashchange", () => location.reload());
createRoot(document.querySelector("#root") as HTMLElement).render(
  <StrictMode>
    <OutdatedPage>
      {shared === undefined ? (
        <Session />
      ) : (
        <Suspense fallback={<p className="starting" role="status" aria-label="Loading" />}>
          <SharedPage {...shared} />
        </Suspense>
      )}
    </OutdatedPage>
  </StrictMode>,
);
