/** Measures the start of the runtime itself. */
export default {
  fetch: () => new Response("ok"),
} satisfies ExportedHandler;
