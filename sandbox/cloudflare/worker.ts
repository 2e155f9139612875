// A container of its own for each session of the sandbox. Troupe's Worker reaches the objects by a binding, so nothing is public.
export { SandboxContainer } from "./sandbox-container.ts";

export default {
  fetch: () => new Response(null, { status: 404 }),
} satisfies ExportedHandler;
