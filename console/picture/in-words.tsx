import { Name } from "../parts/name.tsx";
import type { Activity } from "./activity.ts";
import { type PictureProgress, times } from "./progress.ts";
import type { Picture, PictureEdge } from "./picture.ts";

interface InWordsProps {
  picture: Picture;
  progress: PictureProgress;
  activity: Activity;
}

/** The picture as lists, for screen readers and anyone who prefers text. */
export function InWords({ picture, progress, activity }: InWordsProps) {
  const names = new Map(picture.nodes.map(({ id, name }) => [id, name]));
  return (
    <details className="in-words">
      <summary>As text</summary>
      <h2>Participants</h2>
      <ul aria-label="Nodes">
        {picture.nodes.map(({ id, kind, name, marks }) => (
          <li key={id}>
            <Name name={name} />
            {kind === "outside" && ", outside the team"}
            {(progress.spoken.get(id) ?? 0) > 0 && `, spoke ${times(progress.spoken.get(id) ?? 0)}`}
            {activity.running.has(id) && ", working"}
            {activity.waiting.has(id) && ", waiting for you"}
            {marks.map(({ kind: mark, text }) => (
              <span key={mark}>
                {". "}
                <Name name={text} />
              </span>
            ))}
          </li>
        ))}
      </ul>
      {picture.edges.length > 0 && (
        <>
          <h2>Connections</h2>
          <ul aria-label="Edges">
            {picture.edges.map((edge) => (
              <li key={edge.id}>
                <Name name={names.get(edge.from) ?? ""} /> →{" "}
                <Name name={names.get(edge.to) ?? ""} />
                <When edge={edge} />
                {(progress.taken.get(edge.id) ?? 0) > 0 &&
                  `, taken ${times(progress.taken.get(edge.id) ?? 0)}`}
              </li>
            ))}
          </ul>
        </>
      )}
    </details>
  );
}

function When({ edge: { condition, decidedBy, any } }: { edge: PictureEdge }) {
  return (
    <>
      {condition !== "" && (
        <>
          {" "}
          if the message contains <q>{<Name name={condition} />}</q>
        </>
      )}
      {decidedBy !== "" && (
        <>
          {" "}
          if <Name name={decidedBy} /> says so
        </>
      )}
      {any && ", without waiting for others"}
    </>
  );
}
