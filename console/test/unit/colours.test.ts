import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const styles = join(import.meta.dirname, "../../styles");
const read = (name: string): string => readFileSync(join(styles, `${name}.css`), "utf8");

type Pair = readonly [light: string, dark: string];

/** A custom property of a rule, in both themes. */
function pairOf(css: string, selector: string, property: string): Pair {
  const [, rule = ""] = css.split(`${selector} {`);
  const found = new RegExp(`${property}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(rule);
  if (!found?.[1] || !found[2]) throw new Error(`${selector} has no ${property}`);
  return [found[1], found[2]];
}

function channelsOf(hex: string): [number, number, number] {
  const channel = (at: number): number => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return [channel(1), channel(3), channel(5)];
}

/** The hue in degrees, and the saturation. */
function hueOf(hex: string): { hue: number; saturation: number } {
  const [r, g, b] = channelsOf(hex);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const range = most - least;
  const saturation = range / (1 - Math.abs(most + least - 1));
  const sixth =
    most === r ? (g - b) / range : most === g ? 2 + (b - r) / range : 4 + (r - g) / range;
  return { hue: (sixth * 60 + 360) % 360, saturation };
}

function contrast(one: string, other: string): number {
  const light = (hex: string): number => {
    const [r, g, b] = channelsOf(hex).map((value) =>
      value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
    ) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [darker = 0, lighter = 0] = [light(one), light(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const GROUND = pairOf(read("tokens"), ":root", "--ground");
const BAD = pairOf(read("tokens"), ":root", "--bad");
const NUMBERS = [...read("controls").matchAll(/\[data-colour="(\d+)"\]/g)].map(
  ([, number]) => number,
);

test("agents have eight colours", () => {
  expect(NUMBERS).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
});

test.each(NUMBERS)("colour %s of agents never looks like failure, and can be read", (number) => {
  const css = read("controls");
  const text = pairOf(css, `[data-colour="${number}"]`, "--avatar-text");
  const back = pairOf(css, `[data-colour="${number}"]`, "--avatar");
  for (const theme of [0, 1] as const) {
    for (const colour of [text[theme], back[theme]]) {
      const { hue, saturation } = hueOf(colour);
      // Neither red, pink, orange nor amber.
      expect(saturation < 0.35 || (hue > 68 && hue < 310), `${colour} has the hue ${hue}`).toBe(
        true,
      );
    }
    // The letter on its circle, and bars on the page.
    expect(contrast(text[theme], back[theme])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(text[theme], GROUND[theme])).toBeGreaterThanOrEqual(4.5);
  }
});

test("failure is red in both themes", () => {
  for (const colour of BAD) expect(hueOf(colour).hue).toBeLessThan(10);
});
