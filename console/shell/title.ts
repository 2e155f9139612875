import { useEffect } from "react";

/** The two parts of the tab's title: the open questions, and the page. */
let count = "";
let page = "";

function show(): void {
  document.title = `${count}${page === "" ? "" : `${page} · `}Troupe`;
}

/** Names the page in the title of the browser's tab. */
export function useTitle(name: string): void {
  useEffect(() => {
    page = name;
    show();
  }, [name]);
}

/** Puts the number of open questions before the title. @param text empty for none */
export function useCountInTitle(text: string): void {
  useEffect(() => {
    count = text;
    show();
  }, [text]);
}
