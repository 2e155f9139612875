/** Mistakes by their places, as forms take them. */
export interface ErrorTree {
  __errors?: string[];
  [step: string]: ErrorTree | string[] | undefined;
}

export function errorTree(
  problems: readonly { steps: readonly (string | number)[]; message: string }[],
): ErrorTree {
  const tree: ErrorTree = Object.create(null) as ErrorTree;
  for (const { steps, message } of problems) {
    let node = tree;
    for (const step of steps) {
      const inner = (node[step] as ErrorTree | undefined) ?? (Object.create(null) as ErrorTree);
      node[step] = inner;
      node = inner;
    }
    node.__errors = [...(node.__errors ?? []), message];
  }
  return { ...tree };
}
