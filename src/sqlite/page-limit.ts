/** About the size of a page of messages or runs, in bytes: an RPC call carries 32 MB, an object has 128 MB of memory. */
export const MAX_PAGE_BYTES = 4_000_000;
