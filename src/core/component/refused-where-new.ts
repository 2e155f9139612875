// A component that is stored already loads with the mistakes that are refused in a new one. The registry builds a component by the
// constructor that programs call, and builds synchronously, so the constructor finds out here which of the two it serves.

import { type Issue, ValueError } from "../errors.ts";
import { listIssues } from "../issues.ts";

let building = 0;

/** Builds a component of component JSON, whose new mistakes `refusals` of its definition finds. */
export function buildStored<T>(build: () => T): T {
  building++;
  try {
    return build();
  } finally {
    building--;
  }
}

/** The issues of a component that is new; none while a stored one is built. */
export function whereNew(issues: readonly Issue[]): readonly Issue[] {
  return building > 0 ? [] : issues;
}

/**
 * Refuses what a program gives a constructor, for mistakes that are refused in new component JSON.
 *
 * @param issues their paths are keys of the config
 * @throws ValueError
 */
export function refuseWhereNew(owner: string, issues: readonly Issue[]): void {
  if (whereNew(issues).length === 0) return;
  throw new ValueError(`Invalid ${owner}: ${listIssues(issues)}`, { issues: [...issues] });
}

/** The issues of a config, as `refusals` of a definition gives them. */
export function inConfig(issues: readonly Issue[]): Issue[] {
  return issues.map(({ path, message }) => ({ path: `config.${path}`, message }));
}
