import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { isAway, listInstead, wordsOf } from "./error-words.ts";

interface FailureProps {
  error: Error;
  onRetry: () => void;
}

const RETRY_MS = 2_000;

/**
 * The reason why a page cannot be loaded, with what to do. The page tries again by itself while the server is away; where an
 * item does not exist, it leads to the others.
 */
export function Failure({ error, onRetry }: FailureProps) {
  const retry = useRef(onRetry);
  retry.current = onRetry;
  const away = isAway(error);
  useEffect(() => {
    if (!away) return undefined;
    const timer = setInterval(() => retry.current(), RETRY_MS);
    return () => clearInterval(timer);
  }, [away]);
  const { title, text, advice } = wordsOf(error);
  const list = listInstead(error);
  return (
    <div className="empty" role="alert">
      <h1>{title}</h1>
      {`${title}.` !== text && <p className="muted">{text}</p>}
      {(away || advice !== undefined) && (
        <p className="muted">
          {[advice, away && "The page tries again by itself."].filter(Boolean).join(" ")}
        </p>
      )}
      {list === undefined ? (
        <button className="button" type="button" onClick={onRetry}>
          Try again
        </button>
      ) : (
        <Link className="button" href={list.href}>
          {list.name}
        </Link>
      )}
    </div>
  );
}
