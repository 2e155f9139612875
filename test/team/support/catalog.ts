import { Catalog } from "troupe";

/** What tests add to the components of {@link ScriptedTeam}. */
export const catalog = new Catalog();
