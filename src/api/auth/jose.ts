/** A module of its own, so that a bundle has what verifies tokens and not the rest of jose, though it is imported dynamically. */
export { createRemoteJWKSet, customFetch } from "jose/jwks/remote";
export { jwtVerify } from "jose/jwt/verify";
export { JOSEError, JWKSInvalid, JWKSTimeout } from "jose/errors";
