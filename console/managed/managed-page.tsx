import { type ReactNode, useState } from "react";
import { Secret } from "../dialogs/secret.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Empty } from "../parts/empty.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import type { ManagedActions } from "./managed-entry.tsx";

interface Managed {
  id: string;
  created_at: string;
}

interface FormProps<Item> {
  /** The item to change; undefined for a new one. */
  item: Item | undefined;
  /** The ids that exist. */
  taken: readonly string[];
  onClose: () => void;
  /** @param secret the secret that was made for it */
  onSaved: (secret: string | undefined) => void;
}

interface ManagedPageProps<Item extends Managed> {
  /** The word for an item, such as "webhook". */
  noun: string;
  /** The team to which the items belong; left out for items of the tenant. */
  team?: string;
  /** The name of the list. */
  name: string;
  /** True for a page with a heading of its own. */
  heading?: boolean;
  /** Shown while there are no items. */
  about: string;
  /** Explains the secret that is shown once. */
  aboutSecret: string;
  /** The notice about a deleted item. */
  deleted: (item: Item) => string;
  load: () => Promise<readonly Item[]>;
  onRotate: (item: Item) => Promise<{ secret?: string | undefined }>;
  onDelete: (item: Item) => Promise<unknown>;
  /** @param actions undefined for users who may only read */
  entry: (item: Item, actions: ManagedActions | undefined) => ReactNode;
  form: (props: FormProps<Item>) => ReactNode;
  /** Shown below the list once it is loaded. */
  children?: ReactNode;
}

/** A page of items that have ids and secrets: they are listed, created, changed and deleted. */
export function ManagedPage<Item extends Managed>(props: ManagedPageProps<Item>) {
  const { noun, team = "", name, heading = false, onRotate, onDelete } = props;
  const { value, error, reload } = useLoaded(props.load);
  const [form, setForm] = useState<Item | "new">();
  const [secret, setSecret] = useState<string>();
  const { attempt, postpone } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const keyOf = ({ id, created_at }: Item): string => `${noun} ${team} ${created_at} ${id}`;
  const actionsOn = (item: Item): ManagedActions => ({
    onRotate: () => attempt(async () => setSecret((await onRotate(item)).secret)),
    onEdit: () => setForm(item),
    onDelete: () =>
      postpone({ key: keyOf(item), text: props.deleted(item), action: () => onDelete(item) }),
  });

  if (value === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  const items = value?.filter((item) => !gone.has(keyOf(item)));
  const create = mayWrite && (
    <button className="button primary" type="button" onClick={() => setForm("new")}>
      <Icon name="plus" />
      New {noun}
    </button>
  );
  const createOnTop = items !== undefined && items.length > 0 && create;
  return (
    <div className="page">
      {heading ? (
        <header className="page-head">
          <h1>{name}</h1>
          {createOnTop}
        </header>
      ) : (
        createOnTop && <div className="page-tools">{createOnTop}</div>
      )}
      {items === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {items?.length === 0 && (
        <Empty title={`No ${noun}s yet.`} text={props.about}>
          {create}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <ul className="items" aria-label={name}>
          {items.map((item) => props.entry(item, mayWrite ? actionsOn(item) : undefined))}
        </ul>
      )}
      {items !== undefined && props.children}
      {form !== undefined &&
        props.form({
          item: form === "new" ? undefined : form,
          taken: value?.map(({ id }) => id) ?? [],
          onClose: () => setForm(undefined),
          onSaved: (made) => {
            setSecret(made);
            reload();
          },
        })}
      {secret !== undefined && (
        <Secret
          title={`${noun.charAt(0).toUpperCase()}${noun.slice(1)} secret`}
          text={`Copy it now: it is not shown again. ${props.aboutSecret} A previous secret stays valid for a day.`}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </div>
  );
}
