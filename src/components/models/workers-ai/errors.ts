/** Error bodies of Workers AI, its gateway and the servers of its models. */
export interface ErrorBody {
  internalCode?: number;
  description?: string;
  errors?: { code?: number; message?: string }[];
  error?: string | { code?: string | number | null; message?: string } | null;
}

/** The message of an error body; empty if it reports no error. */
export function saidBy({ internalCode, description, errors, error }: ErrorBody): {
  message: string;
  code: string | undefined;
} {
  const [first] = errors ?? [];
  const inner = typeof error === "string" ? { message: error } : error;
  const message = description || first?.message || inner?.message || "";
  const code = internalCode ?? first?.code ?? inner?.code ?? undefined;
  return { message, code: code === undefined ? undefined : String(code) };
}

/** The codes of an account that has used up its free daily allocation: another attempt is useless. */
const USED_UP: ReadonlySet<string | undefined> = new Set(["3036", "4006"]);

export function isUsedUp(code: string | undefined): boolean {
  return USED_UP.has(code);
}
