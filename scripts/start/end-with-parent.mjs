// Loaded into wrangler's processes before they start: if the one above is killed outright, nobody is left to end the
// process group, so its leader does; the others just leave.

const parent = process.ppid;

setInterval(() => {
  if (process.ppid === parent) return;
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.exit(1);
  }
}, 500).unref();
