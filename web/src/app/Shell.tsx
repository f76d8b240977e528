import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { useLive } from "../api/LiveProvider";
import { DropZone } from "../upload/DropZone";
import { Tray } from "../upload/Tray";
import { useUploads } from "../upload/UploadProvider";
import { KeyGate } from "./KeyGate";
import { KeysHelp } from "./KeysHelp";
import { useKeys } from "./keys";
import { SCREENS } from "./nav";
import { Palette } from "./Palette";
import { Rail } from "./Rail";
import { useScrollKeys } from "./scrollKeys";
import { TopBar } from "./TopBar";

type Open = "palette" | "keys" | "rail" | null;

export function Shell({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<Open>(null);
  const [, go] = useLocation();
  const { choose, chooseFolder } = useUploads();
  const { link } = useLive();
  // The browser tells of a closed dialog a moment later: by then another may be open, which is to stay.
  const close = (what: Open) => () => setOpen((now) => (now === what ? null : now));
  useKeys({
    "/": () => setOpen("palette"),
    "ctrl+k": () => setOpen("palette"),
    "?": () => setOpen("keys"),
    u: () => choose(),
    ...Object.fromEntries(SCREENS.map((screen) => [screen.key, () => go(screen.path)])),
  });
  useScrollKeys();
  return (
    <DropZone>
      <a href="#main" className="absolute z-50 -translate-y-full rounded bg-accent px-3 py-2 text-on-accent focus:translate-y-0">Skip to content</a>
      <div className="flex h-full flex-col">
        <TopBar onMenu={() => setOpen(open === "rail" ? null : "rail")} onPalette={() => setOpen("palette")} onUpload={choose} onFolder={chooseFolder} />
        <div className="relative flex min-h-0 flex-1">
          <div className="hidden w-52 shrink-0 border-r border-line bg-surface md:block"><Rail /></div>
          {open === "rail" && (
            <div className="absolute inset-0 z-30 md:hidden">
              <button type="button" aria-label="Close the menu" onClick={close("rail")} className="absolute inset-0 bg-[var(--scrim)]" />
              <div className="relative h-full w-60 border-r border-line bg-surface"><Rail onGo={close("rail")} /></div>
            </div>
          )}
          <main id="main" tabIndex={-1} className="min-w-0 flex-1">{link === "locked" ? <KeyGate /> : children}</main>
        </div>
      </div>
      <Tray />
      {open === "palette" && <Palette onClose={close("palette")} onUpload={choose} onKeys={() => setOpen("keys")} />}
      {open === "keys" && <KeysHelp onClose={close("keys")} />}
    </DropZone>
  );
}
