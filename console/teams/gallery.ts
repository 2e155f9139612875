/** A team or an agent of a gallery. */
export interface GalleryItem {
  name: string;
  component: object;
}

/** The teams and agents of a gallery of AutoGen Studio; undefined if the JSON is not a gallery. */
export function galleryIn(text: string): GalleryItem[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // An export of Studio's database has the gallery in its `config`.
  const components = partOf(value, "components") ?? partOf(partOf(value, "config"), "components");
  const [teams, agents] = [partOf(components, "teams"), partOf(components, "agents")];
  if (!Array.isArray(teams) && !Array.isArray(agents)) return undefined;
  return [teams, agents].flatMap((list) => (Array.isArray(list) ? list : [])).flatMap(itemOf);
}

function itemOf(component: unknown): GalleryItem[] {
  if (typeof component !== "object" || component === null) return [];
  const name = partOf(component, "label") ?? partOf(partOf(component, "config"), "name");
  return [{ name: typeof name === "string" ? name : "Unnamed", component }];
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
