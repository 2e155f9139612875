// Loaded into the processes of wrangler and of the sandbox before they start: when their parent is killed, the leader of the
// process group kills the group, and the others exit.

const parent = process.ppid;

setInterval(() => {
  if (process.ppid === parent) return;
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.exit(1);
  }
}, 500).unref();
