import { createContext, type ReactNode, useContext } from "react";

/** A part of a message that is opened beside the conversation, such as its code or an image. */
export interface Artefact {
  title: string;
  content: ReactNode;
}

/** Opens an artefact; undefined where there is no place beside. */
export const BesideContext = createContext<((artefact: Artefact) => void) | undefined>(undefined);

export function useBeside(): ((artefact: Artefact) => void) | undefined {
  return useContext(BesideContext);
}
