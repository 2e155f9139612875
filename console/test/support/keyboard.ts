import type { Page } from "playwright-core";

/** Moves the focus with Tab until it is on the element. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(
      "document.activeElement?.getAttribute('aria-label') || document.activeElement?.textContent",
    );
    if (name.test(String(focused))) return;
  }
  throw new Error(`no element ${name} has the focus after 60 tabs`);
}
