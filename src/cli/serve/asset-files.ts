import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { once } from "node:events";

/** Content types by the ending of a file; others are downloads. */
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".xml": "application/xml",
};

/** Headers of responses by the paths that `_headers` names. */
interface HeaderRule {
  path: string;
  headers: [name: string, value: string][];
}

/**
 * Serves a directory of static assets to the Worker, over a Unix socket that clients cannot reach: the Worker decides what is
 * public. Like Cloudflare's assets with `run_worker_first`, it knows `_headers`, and `index.html` of directories.
 */
export class AssetFiles {
  readonly #directory: string;
  readonly #rules: readonly HeaderRule[];
  readonly #server: Server;

  /** @throws Error naming the invalid line of `_headers` */
  constructor(directory: string) {
    this.#directory = directory;
    const headers = join(directory, "_headers");
    this.#rules = existsSync(headers) ? readHeaderRules(readFileSync(headers, "utf8")) : [];
    this.#server = createServer((request, response) => {
      // A name that is too long for the disk, or a file that a build has just replaced.
      this.#serve(request, response).catch(() => {
        if (!response.headersSent) response.writeHead(404, { "content-length": 0 });
        response.end();
      });
    });
  }

  /** @param socket the path of the Unix socket, which is replaced */
  async listen(socket: string): Promise<void> {
    rmSync(socket, { force: true });
    this.#server.listen(socket);
    await once(this.#server, "listening");
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve({ method, url = "/", headers }: IncomingMessage, response: ServerResponse) {
    const file = this.#fileOf(url);
    if (file === undefined || (method !== "GET" && method !== "HEAD")) {
      response.writeHead(404, { "content-length": 0 }).end();
      return;
    }
    const contents = await readFile(file);
    const etag = `"${createHash("sha256").update(contents).digest("hex").slice(0, 32)}"`;
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    response.setHeader("cache-control", "public, max-age=0, must-revalidate");
    response.setHeader("etag", etag);
    for (const [name, value] of this.#headersOf(url)) response.setHeader(name, value);
    if (headers["if-none-match"]?.includes(etag) === true) {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, { "content-length": contents.length });
    response.end(method === "HEAD" ? undefined : contents);
  }

  /** The file for a URL; undefined without one. */
  #fileOf(url: string): string | undefined {
    const path = pathOf(url);
    if (path === undefined || path === "/_headers") return undefined;
    const file = normalize(join(this.#directory, path));
    if (!`${file}${sep}`.startsWith(normalize(this.#directory + sep))) return undefined;
    return [file, join(file, "index.html"), `${file}.html`].find(
      (one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true,
    );
  }

  #headersOf(url: string): [name: string, value: string][] {
    const path = pathOf(url) ?? "";
    return this.#rules
      .filter((rule) =>
        rule.path.endsWith("*") ? path.startsWith(rule.path.slice(0, -1)) : rule.path === path,
      )
      .flatMap(({ headers }) => headers);
  }
}

/** The decoded path of a URL; undefined if it is invalid. */
function pathOf(url: string): string | undefined {
  try {
    const path = decodeURIComponent(new URL(url, "http://assets").pathname);
    return path.includes("\0") ? undefined : path;
  } catch {
    return undefined;
  }
}

/**
 * Reads `_headers`: paths, each with indented headers; a path may end with `*`.
 *
 * @throws Error naming the invalid line
 */
export function readHeaderRules(text: string): HeaderRule[] {
  const rules: HeaderRule[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const content = line.trim();
    if (content === "" || content.startsWith("#")) continue;
    const [, name, value] = /^([\w-]+): *([^ ].*)$/.exec(content) ?? [];
    if (/^\/[^*:]*\*?$/.test(content) && !/^\s/.test(line))
      rules.push({ path: content, headers: [] });
    else if (/^\s/.test(line) && name !== undefined && value !== undefined)
      rules.at(-1)?.headers.push([name, value]);
    else {
      throw new Error(
        `Line ${index + 1} of _headers is ${JSON.stringify(content)}: troupe serve takes paths that may end with * and, indented below them, headers as "Name: value".`,
      );
    }
  }
  return rules;
}
