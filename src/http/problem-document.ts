/** The parts of a problem document (RFC 9457). */
export interface ProblemParts {
  status: number;
  /** Stable, in snake case. */
  code: string;
  detail: string;
  /** The places in the request that are wrong. */
  errors?: readonly { path: string; message: string }[] | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** @param extra further members of the document */
export function problemDocument(
  { status, code, detail, errors = [] }: ProblemParts,
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    ...extra,
    type: `urn:troupe:problem:${code}`,
    title: titleOf(code),
    status,
    detail,
    code,
    ...(errors.length > 0 && { errors }),
  };
}

function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param document made by {@link problemDocument} */
export function problemDocumentResponse(
  document: Readonly<Record<string, unknown>>,
  status: number,
  headers: Headers = {},
): Response {
  return new Response(JSON.stringify(document), {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/**
 * Answers a request that no operation matches: 404 for an unknown path; 405 with the allowed methods for a known one, which also
 * answers OPTIONS.
 *
 * @param methods those of the operations at the path
 * @param refuse makes the response of a problem
 */
export function answerUnmatched(
  method: string,
  methods: readonly string[],
  refuse: (problem: Omit<ProblemParts, "errors">, headers?: Headers) => Response,
): Response {
  if (methods.length === 0) {
    const detail = "There is nothing at this path; GET /v1/openapi.json lists all paths.";
    return refuse({ status: 404, code: "not_found", detail });
  }
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
  const detail = `${method} is not allowed here; ${allow} are.`;
  return refuse({ status: 405, code: "method_not_allowed", detail }, { allow });
}
