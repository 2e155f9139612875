import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { useChat } from "@ai-sdk/vue";
import type { AbstractChat, ChatInit, UIMessage } from "ai";
import { build } from "esbuild";
import { compileModule } from "svelte/compiler";
import { effectScope, watchEffect } from "vue";

/** A chat of a framework, as a component has it. */
export interface FrameworkChat extends Pick<
  AbstractChat<UIMessage>,
  "sendMessage" | "regenerate" | "addToolApprovalResponse"
> {
  readonly messages: UIMessage[];
  readonly status: string;
  readonly error: Error | undefined;
}

/** Makes a chat. @param show called when what a component shows has changed */
type MakeChat = (init: ChatInit<UIMessage>, show: (messages: UIMessage[]) => void) => FrameworkChat;

/** Vue's chat with the types of the tests' own version of the SDK. */
const vueOf = useChat as unknown as (init: ChatInit<UIMessage>) => Pick<
  FrameworkChat,
  "sendMessage" | "regenerate" | "addToolApprovalResponse"
> & {
  [name in "messages" | "status" | "error"]: { readonly value: FrameworkChat[name] };
};

const vueChat: MakeChat = (init, show) => {
  const chat = effectScope().run(() => {
    const made = vueOf(init);
    watchEffect(() => show(made.messages.value), { flush: "sync" });
    return made;
  });
  if (chat === undefined) throw new Error("the scope is not active");
  const { messages, status, error, sendMessage, regenerate, addToolApprovalResponse } = chat;
  return {
    sendMessage,
    regenerate,
    addToolApprovalResponse,
    get messages() {
      return messages.value;
    },
    get status() {
      return status.value;
    },
    get error() {
      return error.value;
    },
  };
};

interface SvelteModule {
  Chat: new (init: ChatInit<UIMessage>) => FrameworkChat;
  rendered: (effect: () => void) => () => void;
}

/** Svelte's packages are compiled by the bundler of their user. */
async function svelteModule(): Promise<SvelteModule> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "rendered.svelte.js")],
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["svelte"],
    write: false,
    plugins: [
      {
        name: "svelte",
        setup({ onLoad }) {
          onLoad({ filter: /\.svelte\.js$/ }, ({ path }) => {
            const source = readFileSync(path, "utf8");
            return { contents: compileModule(source, { generate: "client" }).js.code };
          });
        },
      },
    ],
  });
  const place = mkdtempSync(join(tmpdir(), "svelte-chat-"));
  try {
    const file = join(place, "chat.mjs");
    writeFileSync(file, outputFiles[0]?.text ?? "");
    return (await import(pathToFileURL(file).href)) as SvelteModule;
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** The official packages of frameworks, by the name that a test gives them. */
export const FRAMEWORKS: Readonly<Record<string, () => Promise<MakeChat>>> = {
  "@ai-sdk/vue 4": () => Promise.resolve(vueChat),
  "@ai-sdk/svelte 5": async () => {
    const { Chat, rendered } = await svelteModule();
    return (init, show) => {
      const chat = new Chat(init);
      rendered(() => show(chat.messages));
      return chat;
    };
  },
};
