import { ComponentError } from "troupe";
import type { Issue } from "troupe";

/** What is wrong with a component. */
export function issuesOf(load: () => unknown): Issue[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ComponentError) return error.issues;
    throw error;
  }
  return [];
}
