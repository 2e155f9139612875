/** What starting the runtime itself costs. */
export default {
  fetch: () => new Response("ok"),
} satisfies ExportedHandler;
