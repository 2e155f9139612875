// A class of a component is named here only, as in core/registry/basic-classes.ts.
export {
  OpenAIEmbeddingClient,
  type OpenAIEmbeddingClientOptions,
} from "./openai-embedding-client.ts";
export {
  WorkersAIEmbeddingClient,
  type WorkersAIEmbeddingClientOptions,
} from "./workers-ai-embedding-client.ts";
