/** The screens, for the rail, the palette and the keys. */
import { Activity, FolderInput, KeyRound, LayoutDashboard, Library, ListChecks, type LucideIcon, MailX, Search, Settings, TriangleAlert } from "lucide-react";

export interface Screen { path: string; name: string; icon: LucideIcon; key: string; words: string }

export const SCREENS: Screen[] = [
  { path: "/", name: "Overview", icon: LayoutDashboard, key: "g o", words: "home status dashboard" },
  { path: "/library", name: "Library", icon: Library, key: "g l", words: "documents files table grid" },
  { path: "/search", name: "Search", icon: Search, key: "g s", words: "find text" },
  { path: "/reviews", name: "Review", icon: ListChecks, key: "g r", words: "fields records accept correct reject queue" },
  { path: "/problems", name: "Problems", icon: TriangleAlert, key: "g p", words: "failed errors causes retry" },
  { path: "/batches", name: "Batches", icon: FolderInput, key: "g b", words: "imports progress pause cancel" },
  { path: "/workers", name: "Workers", icon: Activity, key: "g w", words: "queues processes slots" },
  { path: "/dead", name: "Dead letters", icon: MailX, key: "g d", words: "replay drop tasks" },
  { path: "/access", name: "Access", icon: KeyRound, key: "g a", words: "keys audit log roles" },
  { path: "/settings", name: "Settings", icon: Settings, key: "g ,", words: "doctor configuration theme" },
];

/** Whether `path` is the screen at `location` or below it. */
export const isAt = (path: string, location: string): boolean =>
  path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`) || (path === "/library" && location.startsWith("/documents/"));
