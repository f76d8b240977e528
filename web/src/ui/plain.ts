/** What browsers do only for https and for this machine, done so that it also works on a plain address in a house or an office. */

/** A name that nobody else makes up. */
export const randomId = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Puts words on the clipboard. */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  // Nothing is selected for it, which inside of a dialog could only be the dialog's own.
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", put, { once: true });
  if (document.execCommand("copy")) return;
  document.removeEventListener("copy", put);
  throw new Error("the browser allows no copying on this address; select the words and copy them by hand");
}
