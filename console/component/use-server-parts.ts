import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { type Loaded, useLoaded } from "../hooks/use-loaded.ts";
import { Catalogue, type ComponentData } from "./catalogue.ts";

/** The server's offers for teams. */
export interface ServerParts {
  catalogue: Catalogue;
  /** The components of its templates. */
  templates: readonly ComponentData[];
  /** The names of its collections of documents. */
  collections: readonly string[];
  /** The names of its skills. */
  skills: readonly string[];
}

export function useServerParts(): Loaded<ServerParts> {
  const client = useTroupe();
  return useLoaded(
    useCallback(async () => {
      const [known, templates, collections, skills] = await Promise.all([
        client.components(),
        client.templates(),
        // A server without memories, or a key that does not see them, has no collections and skills to offer.
        client.collections.list({ limit: 200 }).then(
          (page) => page.collections.map(({ id }) => id),
          () => [],
        ),
        client.skills.list({ limit: 200 }).then(
          (page) => page.skills.map(({ name }) => name),
          () => [],
        ),
      ]);
      return {
        catalogue: new Catalogue(known),
        collections,
        skills,
        templates: templates.map(({ component }) => component as ComponentData),
      };
    }, [client]),
  );
}
