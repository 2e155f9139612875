import type { StoredObject } from "../contract/stored-data.ts";

/** An object by its name, and what errors call it. */
export interface ObjectAddress {
  name: string;
  object: StoredObject;
}

export function teamNamed(tenant: string, id: string): ObjectAddress {
  return { name: `${tenant}/${id}`, object: { is: "team" } };
}

/** A tenant, or the list of all: its name has an @, as no tenant's id has. */
export function tenantNamed(name: string): ObjectAddress {
  return { name, object: name.includes("@") ? { is: "tenants" } : { is: "tenant", id: name } };
}

/** The memories of a user (`user/USER`) or of the tenant (`tenant`), or a collection (`collection/NAME`). */
export function memoriesNamed(tenant: string, name: string): ObjectAddress {
  const [kind, ...path] = name.split("/");
  const id = path.join("/");
  const object: StoredObject =
    kind === "collection"
      ? { is: "collection", id }
      : { is: "memories", user: kind === "user" ? id : null };
  return { name: `${tenant}/${name}`, object };
}
