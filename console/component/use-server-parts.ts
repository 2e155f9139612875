import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { type Loaded, useLoaded } from "../hooks/use-loaded.ts";
import { Catalogue, type ComponentData } from "./catalogue.ts";

/** The server's offers for teams. */
export interface ServerParts {
  catalogue: Catalogue;
  /** The components of its templates. */
  templates: readonly ComponentData[];
}

export function useServerParts(): Loaded<ServerParts> {
  const client = useTroupe();
  return useLoaded(
    useCallback(async () => {
      const [known, templates] = await Promise.all([client.components(), client.templates()]);
      return {
        catalogue: new Catalogue(known),
        templates: templates.map(({ component }) => component as ComponentData),
      };
    }, [client]),
  );
}
