import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe has against the page, and whether it is wider than the window. */
export async function findings(page: Page): Promise<string[]> {
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
