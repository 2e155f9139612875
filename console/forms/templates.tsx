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
import { FieldErrors } from "../inputs/field-errors.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { visibleName } from "../text/foreign.ts";

// The look of forms: the console's fields instead of the library's.

/** Widgets of several controls, which have a label each. */
const CHOICES: ReadonlySet<unknown> = new Set(["radio", "checkboxes"]);

export function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, errors, description, rawDescription, required } = props;
  const { displayLabel, hidden, schema, uiSchema } = props;
  if (hidden) return null;
  const inGroup = CHOICES.has(uiSchema?.["ui:widget"]);
  const shown = displayLabel === true && (inGroup || schema.type !== "boolean");
  const title = shown && label !== "" && (
    <>
      {visibleName(label)}
      {required === true && <span className="required"> *</span>}
    </>
  );
  const inside = (
    <>
      {children}
      {shown && rawDescription !== "" && description}
      {errors}
    </>
  );
  if (inGroup) {
    return (
      <fieldset className="field form-field">
        {title !== false && <legend>{title}</legend>}
        {inside}
      </fieldset>
    );
  }
  return (
    <div className="field form-field">
      {title !== false && <label htmlFor={id}>{title}</label>}
      {inside}
    </div>
  );
}

export function ErrorTemplate({ errors = [], fieldPathId }: FieldErrorProps) {
  return (
    <FieldErrors
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

export function ObjectTemplate({ properties, title }: ObjectFieldTemplateProps) {
  return (
    <div className="form-object" role="group" aria-label={title === "" ? undefined : title}>
      {properties.map(({ name, content }) => (
        <div key={name}>{content}</div>
      ))}
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
  return <p className="muted">No form field for this value: {JSON.stringify(schema)}</p>;
}
