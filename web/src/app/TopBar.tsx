import { Files, FolderUp, Menu as MenuIcon, Monitor, Moon, Search, Sun, Upload } from "lucide-react";
import { Link } from "wouter";
import { useLive } from "../api/LiveProvider";
import { useStatus } from "../api/queries";
import { Button } from "../ui/Button";
import { cx } from "../ui/cx";
import { count, rate } from "../ui/format";
import { Menu, MenuItem, MenuLabel } from "../ui/Menu";
import { setTheme, useTheme } from "./theme";
import mark from "../mark.svg";

interface Props { onMenu: () => void; onPalette: () => void; onUpload: () => void; onFolder: () => void }

export function TopBar({ onMenu, onPalette, onUpload, onFolder }: Props) {
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-3">
      <Button kind="quiet" square aria-label="Menu" className="md:hidden" icon={<MenuIcon size={18} aria-hidden />} onClick={onMenu} />
      <Link href="/" aria-label="docmill, overview" className="flex items-center gap-2 pr-2 font-semibold tracking-tight md:w-43">
        <img src={mark} alt="" width={22} height={22} />
        <span className="max-sm:hidden">docmill</span>
      </Link>
      <button
        type="button"
        onClick={onPalette}
        className="flex h-8 max-w-md min-w-0 flex-1 items-center gap-2 rounded-md border border-line bg-sunken px-2.5 text-sm text-ink-3 hover:border-line-strong"
      >
        <Search size={14} aria-hidden className="shrink-0" />
        <span className="truncate">Search or go to…</span>
        <kbd className="ml-auto max-sm:hidden">/</kbd>
      </button>
      <div className="ml-auto flex items-center gap-2">
        <Pulse />
        <ThemeMenu />
        <Menu trigger={<Button kind="primary" icon={<Upload size={14} aria-hidden />} aria-label="Upload"><span className="max-sm:hidden">Upload</span></Button>}>
          <MenuItem icon={<Files size={14} aria-hidden />} onSelect={onUpload}>Files… <kbd className="ml-auto">u</kbd></MenuItem>
          <MenuItem icon={<FolderUp size={14} aria-hidden />} onSelect={onFolder}>A folder…</MenuItem>
          <MenuLabel>or drop them anywhere</MenuLabel>
        </Menu>
      </div>
    </header>
  );
}

/** Whether what is shown is what is, and how fast things go. */
function Pulse() {
  const { link } = useLive();
  const status = useStatus().data;
  const words = {
    connecting: "Connecting", live: "Live", lost: "Connection lost; trying again", locked: "This server needs a key",
  }[link];
  const working = link === "live" && status && status.ingestions.in_progress > 0;
  return (
    <div role="status" title={words} className="flex h-8 items-center gap-2 px-1 text-sm text-ink-2">
      <span
        aria-hidden
        className={cx("size-2 rounded-full", link === "live" ? "bg-accent" : link === "connecting" ? "bg-line-strong" : "bg-red", working && "pulse")}
      />
      {link === "live" ? (
        <span className="max-sm:sr-only">
          {working ? `${rate(status.docs_per_s)} docs/s · ${count(status.ingestions.in_progress)} in flight` : "Live"}
        </span>
      ) : (
        <span className={cx("max-sm:sr-only", link !== "connecting" && "font-medium text-red")}>
          {link === "lost" ? "Reconnecting…" : link === "locked" ? "Key needed" : "Connecting…"}
        </span>
      )}
    </div>
  );
}

function ThemeMenu() {
  const theme = useTheme();
  const Icon = theme === "dark" ? Moon : theme === "light" ? Sun : Monitor;
  return (
    <Menu trigger={<Button kind="quiet" square aria-label={`Theme: ${theme}`} icon={<Icon size={16} aria-hidden />} />}>
      <MenuItem icon={<Monitor size={14} aria-hidden />} onSelect={() => setTheme("system")}>As the system</MenuItem>
      <MenuItem icon={<Sun size={14} aria-hidden />} onSelect={() => setTheme("light")}>Light</MenuItem>
      <MenuItem icon={<Moon size={14} aria-hidden />} onSelect={() => setTheme("dark")}>Dark</MenuItem>
    </Menu>
  );
}
