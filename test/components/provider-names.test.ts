import { expect, test } from "vitest";
import { PROVIDERS } from "#components/provider-names.ts";
import { providerNames } from "../../scripts/providers.mjs";

test("the names of each group of components are those of its definitions (npm run providers)", async () => {
  expect(PROVIDERS).toEqual(await providerNames());
});
