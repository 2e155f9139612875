/** About what one page of messages or runs holds; a call between objects carries 32 MB, an object has 128 MB. */
export const MOST_PAGE_BYTES = 4_000_000;
