import { expect, test } from "vitest";
import { readResponse } from "#components/mcp/connection/read-responses.ts";

const headers = { "content-type": "text/event-stream" };

/** Reads an event, of whose data the reader of messages makes this error. */
async function read(error: Error): Promise<string> {
  const messages = {
    read() {
      throw error;
    },
  };
  const response = await readResponse(
    new Response("data: not JSON\n\n", { headers }),
    messages as never,
  );
  return response.text();
}

test("an event that is not JSON stays as it is, and a fault of the reader ends the stream", async () => {
  expect(await read(new SyntaxError("not JSON"))).toBe("data: not JSON\n\n");
  await expect(read(new TypeError("a fault"))).rejects.toThrow("a fault");
});
