import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether the service runs inside a container, which then isolates the code. */
export function insideContainer(
  env: Readonly<Record<string, string | undefined>>,
  root = "/",
): boolean {
  if (env.KUBERNETES_SERVICE_HOST !== undefined) return true;
  if (["/.dockerenv", "/run/.containerenv"].some((file) => existsSync(join(root, file))))
    return true;
  try {
    const groups = readFileSync(join(root, "proc/1/cgroup"), "utf8");
    return /\b(docker|containerd|kubepods|libpod|lxc|garden)\b/.test(groups);
  } catch {
    // No /proc, so this is not Linux and not a container.
    return false;
  }
}
