/** What a bundle would have nothing of but the default export. */
export const names = async (): Promise<string[]> => Object.keys(await import("standardwebhooks"));
