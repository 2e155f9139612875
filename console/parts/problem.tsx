import { ApiError } from "troupe/client";

/** The reason for a refusal, with the places of the mistakes. */
export function Problem({ error }: { error: Error | undefined }) {
  if (error === undefined) return null;
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <div className="problem" role="alert">
      <p>{problem?.detail ?? error.message}</p>
      {problem?.errors && problem.errors.length > 0 && (
        <ul>
          {problem.errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
