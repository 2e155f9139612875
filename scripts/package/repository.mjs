// Where the repository is on the web. The clone does not say it: a fork that publishes names itself.

import { execFileSync } from "node:child_process";

/**
 * The repository that a workflow on GitHub runs in, otherwise the clone's remote `origin` when GitHub has it.
 *
 * @param {string} root
 * @param {NodeJS.ProcessEnv} environment
 * @returns {string | undefined} for example `https://github.com/owner/name`
 */
export function repositoryUrl(root, { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env) {
  if (GITHUB_REPOSITORY) return `${GITHUB_SERVER_URL || "https://github.com"}/${GITHUB_REPOSITORY}`;
  const path = /github\.com[:/]([^/\s]+\/[^/\s]+?)(?:\.git)?$/.exec(origin(root))?.[1];
  return path && `https://github.com/${path}`;
}

/** @param {string} root */
function origin(root) {
  try {
    const args = ["-C", root, "remote", "get-url", "origin"];
    return execFileSync("git", args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    // No clone, no git, or no remote.
    return "";
  }
}

/** @param {string} url */
export function repositoryFields(url) {
  return {
    repository: { type: "git", url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}

/**
 * A page with absolute links in the place of those relative to the repository's root: npm shows the page elsewhere.
 *
 * @param {string} text Markdown
 * @param {string} url of the repository
 * @param {string} version
 */
export function absoluteLinks(text, url, version) {
  return text.replaceAll(
    /(!?)\[((?:[^[\]]|!\[[^\]]*\]\([^)]*\))*)\]\((?!https?:|#)([^)\s]+)\)/g,
    (_, image, label, path) => {
      const view = image === "!" ? "raw" : "blob";
      return `${image}[${label}](${url}/${view}/v${version}/${path})`;
    },
  );
}
