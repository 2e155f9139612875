/**
 * The users that a sandbox of a test runs code as, if the tests run as root: its own, because each sandbox kills what its users left.
 */
export function ownUsers(): { SANDBOX_FIRST_UID: string } {
  return { SANDBOX_FIRST_UID: String(100_000 + 1000 * Math.floor(Math.random() * 1_000_000)) };
}
