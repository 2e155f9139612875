import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { platform } from "node:process";
import { SettingsError } from "./settings.ts";

/**
 * Makes sure that no other service on this machine has the data directory, until this process ends, however it ends: the system
 * lets go of a socket without a file by itself.
 *
 * @throws SettingsError when another one has it
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
    throw new SettingsError(`SANDBOX_DATA ${data} is used by another sandbox that runs`);
  }
}
