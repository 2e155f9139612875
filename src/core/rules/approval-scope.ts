/** A scope that a credential may have for approvals whose rule names it. */
export const APPROVAL_SCOPE = /^approvals:[A-Za-z0-9_.-]{1,63}$/;
