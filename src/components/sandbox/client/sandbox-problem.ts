import * as z from "zod";

const problemSchema = z.object({
  status: z.number().int(),
  code: z.string().optional(),
  detail: z.string().optional(),
  title: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  /** Seconds. */
  retry_after: z.number().optional(),
});

/** A problem document of the sandbox (RFC 9457). */
export type SandboxProblem = z.infer<typeof problemSchema>;

/** Parses a problem document; any other text gives only the status. */
export function problemFrom(text: string, status = 500): SandboxProblem {
  try {
    return problemSchema.parse({ status, ...(JSON.parse(text) as object) });
  } catch {
    return { status };
  }
}

/** The problem as one sentence. */
export function describeProblem({ status, detail, title, errors = [] }: SandboxProblem): string {
  const places = errors.map(({ path, message }) => `${path} ${message}`).join("; ");
  const said = [detail ?? title, places].filter(Boolean).join(" ");
  return said === "" ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
}
