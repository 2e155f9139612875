/** A module of its own, so that a bundle has what signs and not the rest of jose, though it is imported dynamically. */
export { calculateJwkThumbprint } from "jose/jwk/thumbprint";
export { FlattenedSign } from "jose/jws/flattened/sign";
export { importJWK } from "jose/key/import";
