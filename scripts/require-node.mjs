// Imported before all others by what `npm start` and `npm test` run. They run in the Node of the project, but npm leaves out native
// parts of packages when it runs in a Node that these do not support, and would have said so in a native binding's error.

const [, version] = /\bnode\/v(\d+\.\d+\.\d+)/.exec(process.env.npm_config_user_agent ?? "") ?? [];
const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
const supported = major === 20 ? minor >= 19 : major === 22 ? minor >= 12 : major > 22;
if (version !== undefined && !supported) {
  console.error(
    `This repository needs an npm that runs in Node 20.19 or later of 20, or in 22.12 or later; this one runs in ${version}. Install another Node, and repeat npm ci.`,
  );
  process.exit(1);
}
