/**
 * The last version of the tables of each class of objects that this code knows; it refuses objects with later ones
 * (`newer_data`). Equal to the numbers of their migrations, and here for those who know only what is on the wire.
 */
export const TABLE_VERSIONS = { team: 13, tenant: 20, memory: 1 };
