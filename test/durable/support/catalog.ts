import { Catalog } from "../../../src/core/component/catalog.ts";

/** What tests add to the components of {@link ScriptedTeam}. */
export const catalog = new Catalog();
