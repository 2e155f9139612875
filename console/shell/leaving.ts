let leaving = false;
addEventListener("pagehide", () => {
  leaving = true;
});
addEventListener("pageshow", () => {
  leaving = false;
});

/** Sends a request that continues after the user leaves the page. A hidden page may be closed at any moment. */
export function send(request: Request): Promise<Response> {
  const kept = leaving || (document.visibilityState === "hidden" && isAnswer(request));
  return fetch(request, kept ? { keepalive: true } : {});
}

function isAnswer({ method, url }: Request): boolean {
  return method === "POST" && /\/requests\/[^/]+$/.test(new URL(url).pathname);
}
