import { ApiError } from "troupe/client";
import { sentenceOf } from "./error-words.ts";

/** The reason for a refusal with what to do, and the places of the mistakes. */
export function Problem({ error }: { error: Error | undefined }) {
  if (error === undefined) return null;
  const mistakes = (error instanceof ApiError && error.problem.errors) || [];
  return (
    <div className="problem" role="alert">
      <p>{sentenceOf(error)}</p>
      {mistakes.length > 0 && (
        <ul>
          {mistakes.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
