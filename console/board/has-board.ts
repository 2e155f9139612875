/** True if an agent of the team has the board of tasks among its memories. @param component as the API shows it */
export function hasBoard(component: unknown): boolean {
  if (typeof component !== "object" || component === null) return false;
  const { provider } = component as { provider?: unknown };
  if (typeof provider === "string" && /(^|\.)TaskBoard$/.test(provider)) return true;
  return Object.values(component).some(hasBoard);
}
