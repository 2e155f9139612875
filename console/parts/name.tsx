import { visibleName } from "../text/foreign.ts";

/** A name that other people chose. It is isolated from the surrounding text direction and shows no invisible characters. */
export function Name({ name }: { name: string }) {
  return <bdi className="name">{visibleName(name)}</bdi>;
}

const COLOURS = 8;

/** The colour of a source everywhere in the console, for `data-colour`. */
export function colourOf(source: string): number | "user" {
  let hash = 0;
  for (const letter of source) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return source === "user" ? "user" : hash % COLOURS;
}

/** The initial of a source, in its colour. */
export function Avatar({ source }: { source: string }) {
  const [letter = "?"] = visibleName(source);
  return (
    <span className="avatar" data-colour={colourOf(source)} aria-hidden>
      {letter.toUpperCase()}
    </span>
  );
}
