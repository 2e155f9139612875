export { Chat } from "@ai-sdk/svelte";

/**
 * Runs an effect of Svelte, as a component does that shows what the effect reads.
 *
 * @param {() => void} effect
 */
export function rendered(effect) {
  return $effect.root(() => {
    $effect(effect);
  });
}
