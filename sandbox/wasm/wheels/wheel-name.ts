/** The interpreter that wheels have to fit. */
export interface Target {
  /** Its version of Python, like `3.14.2`. */
  python: string;
  /** The platform of its machine code, as in the names of wheels. */
  platform: string;
}

export interface WheelName {
  name: string;
  version: string;
  /** Without machine code. */
  pure: boolean;
}

/**
 * What the file name of a wheel says, by the binary distribution format of Python: `NAME-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl`,
 * each tag with alternatives separated by dots.
 *
 * @throws Error when the interpreter cannot use it
 */
export function wheelName(file: string, target: Target): WheelName {
  const parts = file.replace(/\.whl$/, "").split("-");
  const [name, version] = parts;
  const [pythons, abis, platforms] = parts.slice(-3).map((tag) => tag.split("."));
  if (!name || !version || !pythons || !abis || !platforms || parts.length < 5 || parts.length > 6)
    throw new Error(
      `${file} is not the name of a wheel: NAME-VERSION-PYTHON-ABI-PLATFORM.whl is expected`,
    );
  const pure = platforms.includes("any");
  if (!pure && !platforms.includes(target.platform))
    throw new Error(
      `it is built for ${platforms.join(", ")}: this sandbox runs pure wheels (any) and those for ${target.platform}`,
    );
  const [, minor = ""] = target.python.split(".");
  const usable = pythons.some((python) => {
    const [, kind, least] = /^(py|cp)3(\d*)$/.exec(python) ?? [];
    if (kind === undefined) return false;
    // The stable ABI, and code of Python alone, work in later versions, too.
    if (kind === "py" || abis.includes("abi3")) return Number(least) <= Number(minor);
    return least === minor;
  });
  const abi = abis.some((one) => ["none", "abi3", `cp3${minor}`].includes(one));
  if (!usable || !abi)
    throw new Error(
      `it is built for ${pythons.join(", ")} with the ABI ${abis.join(", ")}: this sandbox has Python 3.${minor} (cp3${minor})`,
    );
  return { name, version: decodeURIComponent(version), pure };
}
