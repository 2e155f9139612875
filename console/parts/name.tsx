import { visibleName } from "../text/foreign.ts";

/** A name that others have chosen: on its own in the order of its letters, and without invisible ones. */
export function Name({ name }: { name: string }) {
  return <bdi className="name">{visibleName(name)}</bdi>;
}

const COLOURS = 8;

/** A letter in a colour that a source has in the whole console. */
export function Avatar({ source }: { source: string }) {
  let hash = 0;
  for (const letter of source) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  const [letter = "?"] = visibleName(source);
  return (
    <span className="avatar" data-colour={source === "user" ? "user" : hash % COLOURS} aria-hidden>
      {letter.toUpperCase()}
    </span>
  );
}
