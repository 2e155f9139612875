let leaving = false;
addEventListener("pagehide", () => {
  leaving = true;
});
addEventListener("pageshow", () => {
  leaving = false;
});

/** Sends a request, which outlasts the page if that is being left. */
export function send(request: Request): Promise<Response> {
  return fetch(request, leaving ? { keepalive: true } : {});
}
