/** The stream of a watcher whose object is joined to the Worker by a socket. */
export async function watchOverSocket(
  room: Pick<DurableObjectStub, "fetch">,
  url: string,
): Promise<Response> {
  const { webSocket } = await room.fetch(url, { headers: { upgrade: "websocket" } });
  if (webSocket === null) throw new TypeError("the object opened no socket");
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer.closed.catch(() => webSocket.close());
  webSocket.binaryType = "arraybuffer";
  webSocket.addEventListener("message", ({ data }) => {
    if (data instanceof ArrayBuffer) void writer.write(new Uint8Array(data));
  });
  webSocket.accept();
  return new Response(readable, { headers: { "content-type": "text/event-stream" } });
}

/** What a model's server sends. */
export async function* spoken(
  { UPSTREAM }: { UPSTREAM: string },
  model: string,
): AsyncGenerator<Uint8Array, void, void> {
  const answer = await fetch(`${UPSTREAM}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer bench" },
    body: JSON.stringify({ model, messages: [], stream: true }),
  });
  if (answer.body === null) throw new TypeError("the model server sent no body");
  yield* answer.body;
}
