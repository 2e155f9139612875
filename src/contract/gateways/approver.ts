/** The person or program that answers, as rules of approval know it. */
export interface Approver {
  /** The user of the credential, else its name, else its kind. Two credentials with one subject are one approver. */
  subject: string;
  /** The user that the credential stands for. */
  user?: string;
  scopes: readonly string[];
  /** True for the operator, and for the developer on an open local server: they have each scope of approvals. */
  has_all_approvals?: true;
}

/** True if a rule that names these scopes and users may be answered by this person. */
export function mayApprove(by: readonly string[] | undefined, approver: Approver): boolean {
  if (by === undefined) return true;
  const { user, scopes, has_all_approvals = false } = approver;
  return by.some((name) =>
    name.startsWith("user:")
      ? user !== undefined && name === `user:${user}`
      : has_all_approvals || scopes.includes(name),
  );
}
