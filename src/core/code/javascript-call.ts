/** Characters of a result, which is longer than a tool's result may be. */
export const MAX_RESULT_LENGTH = 1_000_000;

/**
 * A module that calls the default export of another one. The Worker and the sandbox run it beside the code that it calls, so nothing
 * that it says is trusted.
 */
export const CALL_MODULE = String.raw`
const stringify = JSON.stringify;

export function described(error) {
  try {
    return error instanceof Error ? error.name + ": " + error.message : String(error);
  } catch {
    return "an error that has no text";
  }
}

/** The default function of a module. */
async function functionOf(load) {
  const { default: tool } = await load();
  if (typeof tool === "function") return tool;
  throw new TypeError("source_code must export a function as its default: export default async function (args, context) { ... }");
}

export async function check(load) {
  try {
    await functionOf(load);
    return {};
  } catch (error) {
    return { error: described(error) };
  }
}

export async function outcome(load, args, context) {
  try {
    const value = await (await functionOf(load))(args, context);
    const text = typeof value === "string" ? value : stringify(value ?? null);
    if (text === undefined) return { error: "the function returned a " + typeof value + ", which is not JSON" };
    if (text.length > ${MAX_RESULT_LENGTH}) return { error: "the result has " + text.length + " characters; at most ${MAX_RESULT_LENGTH} are allowed" };
    return { text };
  } catch (error) {
    return { error: described(error) };
  }
}
`;
