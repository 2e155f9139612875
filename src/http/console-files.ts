/** What the console needs of the Worker's bindings and settings. */
export interface ConsoleBindings {
  /** Its files, with their headers. */
  CONSOLE_FILES?: Pick<Fetcher, "fetch">;
  CONSOLE?: string;
}

/** What is never a page: the API and its protocols. */
const API = /^\/(v1|a2a|mcp|ag-ui|ai-sdk|openai|healthz|\.well-known)(\/|$)/;
/** The files of the console; what is below `assets` has its hash in its name. */
const FILE = /^\/(assets\/[\w.-]+|favicon\.svg)$/;

/**
 * A file of the console, or for the navigation of a browser its page, which reads the address itself. Undefined for what the
 * API answers.
 */
export async function consoleResponse(
  request: Request,
  { CONSOLE_FILES, CONSOLE }: ConsoleBindings,
): Promise<Response | undefined> {
  if (CONSOLE_FILES === undefined || CONSOLE === "off") return undefined;
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const url = new URL(request.url);
  if (API.test(url.pathname)) return undefined;
  if (FILE.test(url.pathname)) {
    const file = await CONSOLE_FILES.fetch(request.url, request);
    return file.status === 404 ? undefined : file;
  }
  if (!isNavigation(request.headers)) return undefined;
  return CONSOLE_FILES.fetch(new URL("/", url).href, request);
}

function isNavigation(headers: Headers): boolean {
  const mode = headers.get("sec-fetch-mode");
  // Browsers say so on HTTPS and on this machine; elsewhere it is what they accept.
  if (mode !== null) return mode === "navigate";
  return headers.get("accept")?.includes("text/html") === true;
}
