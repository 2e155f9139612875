interface Fields {
  /** What is given to the implementation, or says how to compare. */
  takes: readonly string[];
  /** What it must show. */
  shows: readonly string[];
}

const fields = (takes: readonly string[], shows: readonly string[] = []): Fields => ({
  takes,
  shows,
});

const TEXTS = ["dump", "kind", "text", "model_text", "model_message"];

/** The keys of each step beside `op` and `error`. */
export const FIELDS: { readonly [op: string]: Fields } = {
  run: fields(["task", "output_task_messages", "stream"], ["events"]),
  save_state: fields(["compare_only"], ["state"]),
  load_state: fields(["state"]),
  reset: fields([]),
  new: fields(["component", "hooks"]),
  use: fields(["component"]),
  set_external_termination: fields([]),
  check: fields(["messages"], ["result", "terminated"]),
  condition_reset: fields([]),
  wait: fields(["ms"]),
  context_add: fields(["messages"]),
  context_get: fields([], ["messages"]),
  context_clear: fields([]),
  message: fields(["input"], TEXTS),
  structured: fields(["component", "content", "source", "with_format"], TEXTS),
  component: fields(["component", "expect"], ["dump"]),
  list_tools: fields([], ["tools"]),
  call_tool: fields(["name", "arguments", "streaming"], ["result", "text", "items"]),
};
