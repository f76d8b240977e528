import { Tag } from "lucide-react";
import { Link } from "wouter";
import { shown } from "./format";

/** A tag, which leads to everything that has it. */
export const TagChip = ({ tag }: { tag: string }) => (
  <Link href={`/library?tag=${encodeURIComponent(tag)}`} className="inline-flex h-6 max-w-full items-center gap-1 rounded-full border border-line bg-sunken px-2 text-xs text-ink-2 hover:border-line-strong hover:text-ink">
    <Tag size={11} aria-hidden className="shrink-0" /><span className="truncate">{shown(tag)}</span>
  </Link>
);
