export { default as Provider, type ResourceServer } from "oidc-provider";
