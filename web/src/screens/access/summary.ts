import type { AuditEntry } from "../../api/types";
import { shown } from "../../ui/format";

/** What an entry of the audit log was about, in one line. */
export function summary(entry: AuditEntry): string {
  const parts = entry.subject ? [entry.subject] : [];
  if (typeof entry.detail === "object" && entry.detail !== null) {
    for (const [name, value] of Object.entries(entry.detail)) {
      parts.push(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
    }
  }
  return shown(parts.join(" · "));
}
