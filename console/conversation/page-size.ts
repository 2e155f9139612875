/** Messages that pages of a team load at once: they share the connection. */
export const PAGE_SIZE = 50;
