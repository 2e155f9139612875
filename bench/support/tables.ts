import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { goalRows, type Report, table } from "./report.ts";

const ROOT = join(import.meta.dirname, "../..");
export const PAGE = join(ROOT, "bench/results.md");

/**
 * Puts a section's figures into `bench/results.md`, between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.
 *
 * @throws Error if the page has no such place
 */
export function writeTables(section: string, { method, rows, goals }: Report): void {
  const page = readFileSync(PAGE, "utf8");
  const place = new RegExp(`(<!-- bench:${section} -->\n)[^]*?(<!-- /bench:${section} -->)`);
  if (!place.test(page)) throw new Error(`bench/results.md has no place for ${section}`);
  const parts = [method, table(rows), goals.length > 0 ? table(goalRows(goals)) : "", origin()];
  const text = parts.filter((part) => part !== "").join("\n\n");
  writeFileSync(
    PAGE,
    page.replace(place, (_, begin: string, end: string) => `${begin}${text}\n${end}`),
  );
}

/** When, of what and on what the figures were measured. */
function origin(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--", "src", "bench") !== "";
  const { version } = JSON.parse(
    readFileSync(join(ROOT, "node_modules/workerd/package.json"), "utf8"),
  ) as { version: string };
  return `Measured on ${new Date().toISOString().slice(0, 10)} at commit ${git("rev-parse", "--short", "HEAD")}${changed ? " with changes" : ""}, with Node ${process.versions.node} and workerd ${version}, on ${availableParallelism()} processors.`;
}
