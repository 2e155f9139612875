// Components come from users: a value of an unexpected type counts as missing.

export type UncheckedComponent = { readonly provider?: unknown; readonly config?: unknown };
type Fields = { readonly [key: string]: unknown };

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The config of a component. */
export function configOf(part: unknown): Fields {
  return fieldsOf(fieldsOf(part)["config"]);
}

/** The class of a component, without its module. */
export function classOf(part: unknown): string {
  return textOf(fieldsOf(part)["provider"]).split(".").at(-1) ?? "";
}

/** The team inside a participant: a team itself, or that of a SocietyOfMindAgent. */
export function innerTeamOf(part: UncheckedComponent): UncheckedComponent | undefined {
  const { participants, team } = configOf(part);
  if (Array.isArray(participants)) return part;
  return Array.isArray(configOf(team)["participants"]) ? (team as UncheckedComponent) : undefined;
}
