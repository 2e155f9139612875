import type { ComponentModel } from "troupe";

/**
 * A component of the examples as it is, or with a model of OpenAI in the place of each model client: as they are, they repeat
 * prepared answers, so that the examples run without a key.
 */
export function withModel(
  component: { readonly provider: string; readonly config: object },
  model: string | undefined,
): ComponentModel {
  const modelClient = {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    component_type: "model",
    config: { model, api_key: "env:OPENAI_API_KEY" },
  };
  const text = JSON.stringify(component, (key, value: unknown) =>
    key === "model_client" && model !== undefined ? modelClient : value,
  );
  return JSON.parse(text) as ComponentModel;
}
