import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  type DescriptionFieldProps,
  type FieldErrorProps,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type UnsupportedFieldProps,
  errorId,
} from "@rjsf/utils";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { visibleName } from "../text/foreign.ts";
import { Errors } from "./component-field.tsx";
import { isFirst } from "./form-schema.ts";

// How a form looks: the fields of the console instead of those of the library.

/** Fields that have a label of their own. */
const SELF_LABELLED = new Set(["component", "json"]);

export function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, errors, description, rawDescription, required, uiSchema } = props;
  const { displayLabel, hidden, schema } = props;
  if (hidden) return null;
  const own = SELF_LABELLED.has(String(uiSchema?.["ui:field"]));
  const shown = displayLabel === true && !own && schema.type !== "boolean";
  return (
    <div className="field form-field">
      {shown && label !== "" && (
        <label htmlFor={id}>
          {visibleName(label)}
          {required === true && <span className="required"> *</span>}
        </label>
      )}
      {children}
      {shown && rawDescription !== "" && description}
      {errors}
    </div>
  );
}

export function ErrorTemplate({ errors = [], fieldPathId }: FieldErrorProps) {
  return (
    <Errors
      id={errorId(fieldPathId)}
      messages={errors.filter((error) => typeof error === "string")}
    />
  );
}

export function DescriptionTemplate({ id, description }: DescriptionFieldProps) {
  if (typeof description !== "string" || description === "") return null;
  return (
    <p id={id} className="muted field-about">
      {visibleName(description)}
    </p>
  );
}

/** The first properties, and the others folded. */
export function ObjectTemplate(props: ObjectFieldTemplateProps) {
  const { properties, schema, title, fieldPathId, errorSchema } = props;
  const isConfig = fieldPathId.path.at(-1) === "config";
  const first = properties.filter(({ name }) => !isConfig || isFirst(name, schema));
  const others = properties.filter((property) => !first.includes(property));
  const wrong = others.some(({ name }) => errorSchema?.[name] !== undefined);
  return (
    <div className="form-object" role="group" aria-label={title === "" ? undefined : title}>
      {first.map(({ name, content }) => (
        <div key={name}>{content}</div>
      ))}
      {others.length > 0 && (
        <details className="form-more" open={wrong || undefined}>
          <summary>More settings</summary>
          <div className="form-object">
            {others.map(({ name, content }) => (
              <div key={name}>{content}</div>
            ))}
          </div>
        </details>
      )}
    </div>
  );
}

export function ArrayTemplate({
  title,
  items,
  canAdd,
  onAddClick,
  required,
  schema,
}: ArrayFieldTemplateProps) {
  return (
    <fieldset className="form-array">
      <legend>
        {visibleName(title)}
        {required === true && <span className="required"> *</span>}
      </legend>
      {items}
      {canAdd && (
        <button className="button small" type="button" onClick={onAddClick}>
          <Icon name="plus" />
          Add {nameOfItem(schema, title)}
        </button>
      )}
    </fieldset>
  );
}

function nameOfItem({ items }: RJSFSchema, title: string): string {
  const name = typeof items === "object" && !Array.isArray(items) ? items.title : undefined;
  return visibleName(name ?? `to ${title}`).toLowerCase();
}

export function ArrayItemTemplate({
  children,
  buttonsProps,
  hasToolbar,
}: ArrayFieldItemTemplateProps) {
  const { hasMoveUp, hasMoveDown, hasRemove, index } = buttonsProps;
  const { onMoveUpItem, onMoveDownItem, onRemoveItem } = buttonsProps;
  const place = index + 1;
  return (
    <div className="form-item">
      <div className="form-item-content">{children}</div>
      {hasToolbar && (
        <div className="form-item-buttons">
          {hasMoveUp && <IconButton icon="send" name={`Move ${place} up`} onClick={onMoveUpItem} />}
          {hasMoveDown && (
            <IconButton icon="down" name={`Move ${place} down`} onClick={onMoveDownItem} />
          )}
          {hasRemove && <IconButton icon="close" name={`Remove ${place}`} onClick={onRemoveItem} />}
        </div>
      )}
    </div>
  );
}

export function UnsupportedTemplate({ schema }: UnsupportedFieldProps) {
  return <p className="muted">No form can show this: {JSON.stringify(schema)}</p>;
}
