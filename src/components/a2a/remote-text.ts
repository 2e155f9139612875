import { isJsonObject } from "../../core/json.ts";
import { messageText, readArtifact, readTask, type RemoteArtifact } from "./remote-task.ts";

/** Finds the new text of a task while its artifacts grow. */
export class RemoteText {
  readonly #shown = new Map<string, string>();
  #isEmpty = true;

  /** @param response an event of a stream @returns the text to show now */
  take(response: unknown): string {
    if (!isJsonObject(response)) return "";
    const { task, artifactUpdate, statusUpdate } = response;
    if (isJsonObject(task)) return this.takeAll(readTask(task).artifacts);
    if (isJsonObject(artifactUpdate) && isJsonObject(artifactUpdate.artifact)) {
      const { id, text } = readArtifact(artifactUpdate.artifact);
      const before = artifactUpdate.append === true ? (this.#shown.get(id) ?? "") : "";
      return this.#grown({ id, text: before + text });
    }
    // Some agents send their text in status messages, and have no artifacts before the end.
    if (isJsonObject(statusUpdate) && isJsonObject(statusUpdate.status) && this.#shown.size === 0) {
      return this.#apart(messageText(statusUpdate.status));
    }
    return "";
  }

  takeAll(artifacts: readonly RemoteArtifact[]): string {
    return artifacts.map((artifact) => this.#grown(artifact)).join("");
  }

  #grown({ id, text }: RemoteArtifact): string {
    const shown = this.#shown.get(id);
    this.#shown.set(id, text);
    return shown !== undefined && text.startsWith(shown) && shown !== ""
      ? text.slice(shown.length)
      : this.#apart(text);
  }

  #apart(text: string): string {
    if (text === "") return "";
    const isFirst = this.#isEmpty;
    this.#isEmpty = false;
    return isFirst ? text : `\n\n${text}`;
  }
}
