import { useState } from "react";
import { IconButton } from "../parts/icon-button.tsx";
import { applyTheme, storedTheme, type Theme, THEMES } from "./theme.ts";

const ICONS = { system: "display", light: "sun", dark: "moon" } as const;
const NAMES = { system: "system", light: "light", dark: "dark" };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (next: Theme): void => {
    applyTheme(next);
    setTheme(next);
  };
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  const name = `Theme: ${NAMES[theme]}. Switch to ${NAMES[next]}`;
  return <IconButton icon={ICONS[theme]} name={name} onClick={() => choose(next)} />;
}
