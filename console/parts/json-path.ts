/** The steps of a path in the notation of the API: `component.config.participants[0].provider`. */
export function stepsOf(path: string): (string | number)[] {
  const names = path.replace(/^component\.?/, "").match(/[^.[\]]+/g) ?? [];
  return names.map((name) => (/^\d+$/.test(name) ? Number(name) : name));
}

/** The same notation of a place: `config.participants[0].provider`. */
export function pathText(steps: readonly (string | number)[]): string {
  return steps
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}
