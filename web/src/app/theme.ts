/** Dark or light: the system's choice unless the user made one. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "docmill.theme";
const listeners = new Set<() => void>();

function chosen(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Called before anything is drawn. */
export function applyTheme(): void {
  const theme = chosen();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function setTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => { listeners.delete(listener); };
  }, chosen);
}

/** From the look of now to the other one. */
export function flipTheme(): void {
  const dark = chosen() === "dark" || (chosen() === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  setTheme(dark ? "light" : "dark");
}
