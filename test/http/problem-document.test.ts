import { expect, test } from "vitest";
import { acceptsEventStream } from "#http/event-stream.ts";
import {
  answerUnmatched,
  problemDocument,
  problemDocumentResponse,
} from "#http/problem-document.ts";

const refuse: Parameters<typeof answerUnmatched>[2] = (problem, headers) =>
  problemDocumentResponse(problemDocument(problem), problem.status, headers);

test("a problem document names its code three times, and wrong places only if there are some", () => {
  const parts = { status: 404, code: "run_not_found", detail: "There is no run x." };
  const document = {
    type: "urn:troupe:problem:run_not_found",
    title: "Run not found",
    ...parts,
  };
  expect(problemDocument(parts)).toEqual(document);
  expect(problemDocument({ ...parts, errors: [] })).toEqual(document);
  const errors = [{ path: "body.task", message: "is required" }];
  expect(problemDocument({ ...parts, errors })).toEqual({ ...document, errors });
});

test("further members of a problem never replace those of the standard", () => {
  const parts = { status: 429, code: "too_many", detail: "Wait." };
  expect(problemDocument(parts, { limit: "runs", status: 200, code: "ok" })).toMatchObject({
    limit: "runs",
    status: 429,
    code: "too_many",
  });
});

test("an unknown path is refused with 404, a known one with 405 and the methods that it has", async () => {
  const unknown = answerUnmatched("GET", [], refuse);
  expect(unknown.status).toBe(404);
  expect(unknown.headers.get("content-type")).toBe("application/problem+json");
  const known = answerUnmatched("PATCH", ["GET", "PUT"], refuse);
  expect(known.status).toBe(405);
  expect(known.headers.get("allow")).toBe("GET, PUT, HEAD, OPTIONS");
  expect(await known.json()).toMatchObject({ code: "method_not_allowed" });
});

test("OPTIONS lists the methods of a path, with HEAD only where it has GET", () => {
  const response = answerUnmatched("OPTIONS", ["POST"], refuse);
  expect(response.status).toBe(204);
  expect(response.headers.get("allow")).toBe("POST, OPTIONS");
});

test.for<[string | null | undefined, boolean]>([
  ["text/event-stream", true],
  ["application/json, Text/Event-Stream ; q=0.5", true],
  ["text/event-stream;q=0", false],
  ["text/event-stream; q=0.00", false],
  ["*/*", false],
  ["", false],
  [null, false],
  [undefined, false],
])("a client that accepts %j asks for an event stream: %j", ([accept, wanted]) => {
  expect(acceptsEventStream(accept)).toBe(wanted);
});
