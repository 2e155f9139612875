/** The places in which code can run, in the order in which they are chosen; `off` for a server that runs none. */
export const CODE_PLACES = ["loader", "containers", "service", "off"] as const;

export type CodePlace = (typeof CODE_PLACES)[number];
