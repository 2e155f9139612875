/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

/**
 * Signals a process that was started detached, and all its descendants in the same group.
 *
 * @param {ChildProcess} leader
 * @param {NodeJS.Signals} signal
 */
export function signalGroup({ pid }, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone.
  }
}

/** @param {ChildProcess} leader */
export function groupLives({ pid }) {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
