/** Keys that scroll, where nothing has the focus: the page itself never scrolls, so they go to what is shown on it. */
import { useEffect } from "react";

/** How far, in parts of what is in view. */
const FAR: Record<string, number> = { PageDown: 0.9, PageUp: -0.9, " ": 0.9, Home: -Infinity, End: Infinity };

function view(): HTMLElement | undefined {
  const all = document.querySelectorAll<HTMLElement>("main [tabindex='0']");
  return [...all].find((one) => one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY));
}

function onKey(event: KeyboardEvent): void {
  const far = FAR[event.key];
  if (far === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target !== document.body || document.querySelector("dialog[open], [role=menu]")) return;
  const shown = view();
  if (!shown) return;
  event.preventDefault();
  if (Number.isFinite(far)) shown.scrollBy({ top: (event.key === " " && event.shiftKey ? -far : far) * shown.clientHeight });
  else shown.scrollTop = far > 0 ? shown.scrollHeight : 0;
}

export function useScrollKeys(): void {
  useEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
