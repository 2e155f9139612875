import { Component, type ReactNode } from "react";

/** The words of browsers for a script that the server does not have. */
const MISSING = /dynamically imported module|importing a module script failed/i;
/** The script of the page that was loaded again last. */
const KEY = "troupe.reloaded";

/**
 * Loads the page again when a part of it is missing: a deployment removes the scripts of the version before, and a page that is
 * open since then asks for them. Where that does not help, it says so.
 */
export class OutdatedPage extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidCatch(error: Error): void {
    if (!isMissingScript(error) || sessionStorage.getItem(KEY) === import.meta.url) return;
    sessionStorage.setItem(KEY, import.meta.url);
    location.reload();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    if (!isMissingScript(error)) throw error;
    return (
      <main className="centre">
        <div className="empty" role="alert">
          <h1>A part of this page is missing</h1>
          <p className="muted">
            The server may have another version of Troupe than this page, or it can't be reached.
          </p>
          <button className="button" type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </main>
    );
  }
}

function isMissingScript(error: Error): boolean {
  return error instanceof TypeError && MISSING.test(error.message);
}
