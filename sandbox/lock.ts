import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { platform } from "node:process";
import { SettingsError } from "./settings.ts";

/**
 * Locks the data directory against other services on this machine, until this process ends. The lock is an abstract socket,
 * which the system removes even if the process is killed.
 *
 * @throws SettingsError when another service has the lock
 */
export async function lock(data: string): Promise<void> {
  if (platform !== "linux") return;
  const name = createHash("sha256").update(data).digest("hex");
  const server = createServer().listen(`\0troupe-sandbox-${name}`);
  server.unref();
  try {
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new SettingsError(`SANDBOX_DATA ${data} is in use by another sandbox that is running`);
  }
}
