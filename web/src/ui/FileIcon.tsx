import { Archive, Calendar, Contact, File, FileCode, FileImage, FileSpreadsheet, FileText, FileType, type LucideIcon, Mail, Presentation } from "lucide-react";

const BY_NAME: [RegExp, LucideIcon][] = [
  [/^message\/|outlook|mbox|tnef/, Mail],
  [/^image\//, FileImage],
  [/pdf/, FileType],
  [/zip|tar|7z|gzip|bzip|xz|zstd|lz4|lzma|rar|compressed/, Archive],
  [/spreadsheet|excel|csv/, FileSpreadsheet],
  [/presentation|powerpoint/, Presentation],
  [/calendar/, Calendar],
  [/vcard/, Contact],
  [/json|[/+]xml|html|javascript/, FileCode],
  [/^text\/|word|opendocument\.text|rtf/, FileText],
];

/** A picture for a media type; what it is stands in words beside it. */
export function FileIcon({ type, size = 16, className }: { type: string | null; size?: number; className?: string }) {
  const Icon = (type && BY_NAME.find(([pattern]) => pattern.test(type))?.[1]) || File;
  return <Icon size={size} aria-hidden className={className} />;
}
