import type { ComponentData } from "./catalogue.ts";
import { type ValuePath, valueAt, withValue } from "./value-path.ts";

/** A change that removes a mistake, or the place where it is removed. */
export interface Repair {
  /** The text of its button. */
  name: string;
  change?: (component: ComponentData) => ComponentData;
  show?: ValuePath;
}

export interface Mistake {
  path: ValuePath;
  message: string;
  repair?: Repair | undefined;
}

/** A mistake or note of the server as a sentence with its repair, where it is a wrong key or class. */
export function explained({ path, message }: Mistake): Mistake {
  const key = String(path.at(-1));
  const wrongKey = /^is not a key of (\S+) and has no effect(?:; did you mean "(.+)"\?)?$/.exec(
    message,
  );
  if (wrongKey !== null) {
    const [, owner = "", near] = wrongKey;
    const beginning = `${key} is not a setting of ${owner} and has no effect.`;
    if (near === undefined) {
      const change = (root: ComponentData): ComponentData => withValue(root, path, undefined);
      return { path, message: beginning, repair: { name: `Remove ${key}`, change } };
    }
    return {
      path,
      message: `${beginning} Did you mean ${near}?`,
      repair: { name: `Use ${near}`, change: (root) => withKey(root, path, near) },
    };
  }
  const wrongClass = /^unknown provider "(.+?)"(?:; did you mean (\S+?)(?: or .+)?\?)?/.exec(
    message,
  );
  if (wrongClass !== null) {
    const [, provider = "", near] = wrongClass;
    if (near === undefined) {
      return {
        path,
        message: `This server has no class ${provider}. A class of your own has to be registered in its Worker.`,
      };
    }
    const change = (root: ComponentData): ComponentData => withValue(root, path, near);
    return {
      path,
      message: `This server has no class ${provider}. Did you mean ${near}?`,
      repair: { name: `Use ${near.split(".").at(-1)}`, change },
    };
  }
  return { path, message };
}

/** Renames a key. A value that the right key has stays. */
function withKey<T>(root: T, path: ValuePath, key: string): T {
  const right = [...path.slice(0, -1), key];
  const value = valueAt(root, right) ?? valueAt(root, path);
  return withValue(withValue(root, path, undefined), right, value);
}
