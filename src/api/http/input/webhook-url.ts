import { TroupeError } from "../../../core/errors.ts";
import { invalid } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";

/** @throws ProblemError 422 at the field when no webhook may be sent to the URL */
export function requireWebhookUrl(
  { checkWebhookUrl }: Pick<Services, "checkWebhookUrl">,
  url: string,
  path: string,
): void {
  try {
    checkWebhookUrl(url);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    throw invalid(error.code, "The webhook cannot be sent to this URL.", [
      { path, message: error.message },
    ]);
  }
}
