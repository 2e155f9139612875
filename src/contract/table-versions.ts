/**
 * The last version of the tables of each class of objects that this code knows; it refuses objects with later ones
 * (`newer_data`). Equal to the numbers of their migrations, and here for those who know only what is on the wire.
 */
export const TABLE_VERSIONS = { team: 13, tenant: 20, memory: 1 };

/** The header of `GET /healthz` with the versions of tables, as a dictionary of RFC 9651. */
export const TABLES_HEADER = "troupe-tables";

/** The header's value: `team=13, tenant=20`. */
export function tableVersions(): string {
  return Object.entries(TABLE_VERSIONS)
    .map(([object, version]) => `${object}=${version}`)
    .join(", ");
}
