/** The steps of a path in the notation of the API: `component.config.participants[0].provider`. */
export function stepsOf(path: string): (string | number)[] {
  const names = path.replace(/^component\.?/, "").match(/[^.[\]]+/g) ?? [];
  return names.map((name) => (/^\d+$/.test(name) ? Number(name) : name));
}
