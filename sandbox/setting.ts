// The kinds of settings, and how each is read from the text of its environment variable.

/** A setting of the service, read from an environment variable. */
export interface Setting<T> {
  name: string;
  /** The text in docs/sandbox.md. */
  description: string;
  fallback: string;
  /** @throws Error that says what is expected */
  parse(text: string): T;
}

export const MB = 1_000_000;

/** Isolation of real processes by the kernel, in addition to containers and users. */
const WALLS = ["namespaces", "cgroups"] as const;

export type Wall = (typeof WALLS)[number];

export function text(name: string, fallback: string, description: string): Setting<string> {
  return { name, fallback, description, parse: (given) => given };
}

/** Texts separated by commas. */
export function list(name: string, description: string): Setting<readonly string[]> {
  return {
    name,
    fallback: "",
    description,
    parse: (given) =>
      given
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
  };
}

/** Packages separated by commas: names, requirements of pip, paths, addresses. */
export function packages(name: string, description: string): Setting<readonly string[]> {
  return {
    name,
    fallback: "",
    description,
    parse(given) {
      const parts: string[] = [];
      for (const part of given.split(",").map((one) => one.trim())) {
        const before = parts.at(-1) ?? "";
        // A comma in `[extras]`, or between two versions of one package.
        const continues =
          before.lastIndexOf("[") > before.lastIndexOf("]") || /^[<>=!~]/.test(part);
        if (continues) parts[parts.length - 1] = `${before},${part}`;
        else parts.push(part);
      }
      const option = parts.find((part) => part.startsWith("-"));
      if (option !== undefined)
        throw new Error(`has the option "${option}": it takes packages only`);
      return parts.filter((part) => part !== "");
    },
  };
}

export function key(name: string, description: string): Setting<string | undefined> {
  return {
    name,
    fallback: "",
    description,
    parse(given) {
      if (given === "") return undefined;
      // A header does not transmit other characters unchanged.
      if (/^[\x21-\x7e]{16,}$/.test(given)) return given;
      throw new Error("must have at least 16 characters, all of them visible ASCII");
    },
  };
}

export function flag(name: string, description: string): Setting<boolean> {
  return {
    ...oneOf(name, ["0", "1"], description),
    parse: (given) => choose(["0", "1"], given) === "1",
  };
}

/** What happens without walls. */
export interface Strictness {
  /** The service does not start without these, whatever the machine has. */
  required: readonly Wall[];
  /** Whether it starts without a wall that the machine has, because something else is in the way. */
  mayFall: boolean;
}

export function strictness(name: string, description: string): Setting<Strictness> {
  const names = list(name, description);
  return {
    ...names,
    parse(given) {
      if (given === "" || given === "0") return { required: [], mayFall: given === "0" };
      if (given === "1") return { required: WALLS, mayFall: false };
      const wanted = names.parse(given);
      if (wanted.length > 0 && wanted.every((one) => WALLS.some((wall) => wall === one)))
        return { required: WALLS.filter((wall) => wanted.includes(wall)), mayFall: false };
      throw new Error(`must be 0, 1, ${WALLS.join(" or ")}`);
    },
  };
}

export function oneOf<const T extends string>(
  name: string,
  choices: readonly [T, ...T[]],
  description: string,
): Setting<T> {
  return { name, fallback: choices[0], description, parse: (given) => choose(choices, given) };
}

function choose<T extends string>(choices: readonly T[], given: string): T {
  const chosen = choices.find((choice) => choice === given);
  if (chosen === undefined) throw new Error(`must be ${choices.join(" or ")}`);
  return chosen;
}

export function bytes(name: string, fallback: number, description: string): Setting<number> {
  return whole(name, fallback, 1, 1_000_000 * MB, `${description} In bytes.`);
}

export function seconds(name: string, fallback: number, description: string): Setting<number> {
  return whole(name, fallback, 1, 1_000_000_000, description);
}

export function whole(
  name: string,
  fallback: number,
  least: number,
  most: number,
  description: string,
): Setting<number> {
  return {
    name,
    fallback: String(fallback),
    description,
    parse(given) {
      const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
      if (value >= least && value <= most) return value;
      throw new Error(`must be a whole number from ${least} to ${most}`);
    },
  };
}
