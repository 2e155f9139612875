/** A sandbox that runs no code: whatever it is asked to run writes a sound into its workspace. */
export class SoundSandbox {
  /** When the workspaces' sounds were written, by session. */
  readonly #written = new Map<string, string>();

  answer({ url, method }: Request): Response {
    const { pathname } = new URL(url);
    const [, session = "", place = ""] = /\/sessions\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
    const modified_at = this.#written.get(session);
    if (method === "POST" && place === "execute") {
      this.#written.set(session, new Date().toISOString());
      const result = { exit_code: 0, output: "", truncated: false, duration_ms: 1, files: [] };
      return new Response(`event: result\ndata: ${JSON.stringify(result)}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    }
    if (place === "files") {
      const files = modified_at === undefined ? [] : [{ path: "beep.wav", size: 12, modified_at }];
      return Response.json({ files, next_cursor: null });
    }
    if (place === "files/beep.wav" && modified_at !== undefined)
      return new Response("RIFF....WAVE");
    return Response.json({ code: "file_not_found", detail: "There is none." }, { status: 404 });
  }
}
