// Bundled for browsers in a project that has the package installed.
import { TroupeClient } from "troupe/client";

const client = new TroupeClient({ baseURL: "https://troupe.test" });
const { id } = await client.teams.create({ template: "writer_critic" });
// @ts-expect-error -- the compiler knows what teams are made of
export const unknown = (): unknown => client.teams.create({ tempalte: "writer_critic" });
Object.assign(globalThis, { team: id });
