// `npm start`: `troupe dev` of this repository, with its sandbox.

import "./require-node.mjs";
import { resolve } from "node:path";
import { devCommand } from "#cli/commands/dev.ts";
import { Sandbox } from "./sandbox.mjs";

const root = resolve(import.meta.dirname, "..");

await devCommand({
  root,
  sandbox: (directory) => new Sandbox(root, directory),
})
  .name("npm start --")
  .parseAsync();
