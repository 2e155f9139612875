import { Link } from "wouter";
import { visibleName } from "../text/foreign.ts";
import { Icon } from "./icon.tsx";

interface ForkSignProps {
  from: { team_id: string; turn: number };
  /** The label of the original, where it is known. */
  name?: string | null | undefined;
}

/** The sign of a fork, which leads to the original. */
export function ForkSign({ from, name }: ForkSignProps) {
  const original = visibleName(name ?? from.team_id);
  return (
    <Link
      className="fork-sign"
      href={`/teams/${from.team_id}`}
      title={`Fork of ${original} at turn ${from.turn}`}
    >
      <Icon name="fork" />
      <span>Fork of {original}</span>
    </Link>
  );
}
