// `npm start`: `troupe dev` of this repository, with its sandbox.

import "./require-node.mjs";
import { join, resolve } from "node:path";
import { devCommand } from "#cli/commands/dev.ts";
import { textLog } from "#cli/server/process/log.ts";
import { SandboxProcess } from "#cli/server/process/sandbox-process.ts";

const root = resolve(import.meta.dirname, "..");

await devCommand({
  root,
  sandbox: (data, python) =>
    new SandboxProcess({ directory: join(root, "sandbox"), data, python, log: textLog }),
})
  .name("npm start --")
  .parseAsync();
