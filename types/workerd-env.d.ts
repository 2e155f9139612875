/** Types `env` and `exports` of "cloudflare:workers" in tests that run inside workerd. */
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("../src/worker.ts");
  }
  interface Env {
    TEAM: DurableObjectNamespace<import("../src/worker.ts").TeamObject>;
  }
}
