import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { testInBrowser } from "../../../test/support/browser.ts";
import { rowsOf } from "../../../test/support/samples.ts";

/** The colours and widths of windows. */
const WIDE: readonly BrowserContextOptions[] = [
  { colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { colorScheme: "light", viewport: { width: 1024, height: 768 } },
  // A window of 1440 pixels at 200 %.
  { colorScheme: "light", viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
];
/** The colours and widths of phones. */
const NARROW: readonly BrowserContextOptions[] = [
  { colorScheme: "light", viewport: { width: 390, height: 844 } },
  { colorScheme: "dark", viewport: { width: 390, height: 844 } },
  { colorScheme: "dark", viewport: { width: 360, height: 740 } },
];

/** Declares a test for one appearance of a window and one of a phone; `npm run test:matrix` tries every appearance. */
export function testAppearances(
  name: string,
  body: (context: BrowserContextOptions) => Promise<void>,
): void {
  for (const context of [...rowsOf(name, WIDE), ...rowsOf(name, NARROW)]) {
    const appearance = `${context.colorScheme}, ${context.viewport?.width} wide`;
    testInBrowser(`${name} (${appearance})`, () => body(context), 120_000);
  }
}

/**
 * The findings of axe about the page, and one if it is wider than the window. Elements that fade in have too little contrast
 * on their way.
 */
export async function findings(page: Pick<Page, "evaluate">): Promise<string[]> {
  await page.evaluate(`Promise.allSettled(
    document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
      .map(({ finished }) => finished)
  )`);
  const found = await page.evaluate(`(async () => {
    ${axe.source}
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html));
  })()`);
  const wide = await page.evaluate(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth",
  );
  return [...(found as string[]), ...(wide === true ? ["the page is wider than the window"] : [])];
}
