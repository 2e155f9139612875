import type * as z from "zod";
import { invalid } from "../problem.ts";

/** Reads the query string. @throws ProblemError 422 for unknown, repeated and invalid parameters */
export function readQuery<Query extends z.ZodType>(
  request: Request,
  schema: Query,
): z.output<Query> {
  const { searchParams } = new URL(request.url);
  const repeated = [...searchParams.keys()].find((name) => searchParams.getAll(name).length > 1);
  const parsed = schema.safeParse(Object.fromEntries(searchParams));
  if (parsed.success && repeated === undefined) return parsed.data;
  const errors =
    repeated === undefined
      ? (parsed.error?.issues ?? []).map(({ path, message }) => ({
          path: path.join(".") || "query",
          message,
        }))
      : [{ path: repeated, message: "must be given once" }];
  throw invalid("invalid_query", "The query string is invalid.", errors);
}
