import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { kindOf } from "../teams/kinds.ts";
import { visibleName } from "../text/foreign.ts";
import type { PictureNode } from "./picture.ts";

interface NodeDetailsProps {
  node: PictureNode;
  onOpen: () => void;
  onClose: () => void;
}

/** The selected participant's details from the component. */
export function NodeDetails({ node, onOpen, onClose }: NodeDetailsProps) {
  const { name, description, provider, marks, inner } = node;
  return (
    <section className="node-details" aria-label={`About ${visibleName(name)}`}>
      <header>
        <strong>
          <Name name={name} />
        </strong>
        {provider !== "" && (
          <span className="muted" title={visibleName(provider)}>
            {visibleName(kindOf(provider))}
          </span>
        )}
        <IconButton icon="close" name="Close" onClick={onClose} />
      </header>
      {description !== "" && <p>{visibleName(description)}</p>}
      {marks.length > 0 && (
        <ul className="muted">
          {marks.map(({ kind, text }) => (
            <li key={kind}>{visibleName(text)}</li>
          ))}
        </ul>
      )}
      {inner !== undefined && (
        <button className="button" type="button" onClick={onOpen}>
          <Icon name="people" />
          Show its team
        </button>
      )}
    </section>
  );
}
