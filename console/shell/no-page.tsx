import { Link } from "wouter";
import { useTitle } from "./title.ts";

export function NoPage() {
  useTitle("Page not found");
  return (
    <div className="empty">
      <h1>Page not found</h1>
      <p className="muted">Check the address, or start from the list of teams.</p>
      <Link className="button" href="/teams">
        Show all teams
      </Link>
    </div>
  );
}
