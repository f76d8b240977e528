/** Kinds of errors, by the names of `docs/reference/errors.md`: what people call them, what they mean, what to do. */

export interface Cause { title: string; meaning: string; remedy: string }

const CAUSES: Record<string, Cause> = {
  encrypted: { title: "Password protected", meaning: "The file opens only with a password, which docmill does not have.", remedy: "A PDF file: write its password into the setting `read.passwords`, restart docmill, and retry the group. Anything else: bring in a copy without a password." },
  corrupt: { title: "Damaged file", meaning: "The content does not follow its own format. What could be read is kept.", remedy: "Look for a better copy. After an update that reads more, retry the group." },
  unsupported_format: { title: "Type not supported", meaning: "The file is stored, but no reader knows its type.", remedy: "It can be opened and downloaded. After an update that knows the type, retry the group." },
  empty_file: { title: "Empty file", meaning: "The file has no bytes.", remedy: "Look at where it came from: a copy may have been cut short." },
  known_system_file: { title: "Known system file", meaning: "The file belongs to an operating system or a program and was left out on purpose.", remedy: "Nothing to do." },
  limit_exceeded: { title: "Limit reached", meaning: "A configured limit stopped the reading; the message names it.", remedy: "Raise the setting that the message names, then retry the group." },
  bomb_suspected: { title: "Expands beyond reason", meaning: "The file would unpack to far more than it holds, as an attack would.", remedy: "If you trust it, raise the limit that the message names and retry." },
  nesting_too_deep: { title: "Nested too deep", meaning: "Containers inside containers, more often than allowed.", remedy: "Unpack it by hand, or raise the limit that the message names." },
  timeout: { title: "No progress in time", meaning: "The reader made no progress within its time limit.", remedy: "Retry when the machine is less busy, or raise the limit." },
  out_of_memory: { title: "Out of memory", meaning: "Reading needed more memory than one document may have.", remedy: "Raise the memory limit of readers, then retry the group." },
  child_crashed: { title: "Reader crashed", meaning: "The process that read the document died. Nothing else was harmed.", remedy: "Retry once. If it dies again, report the file: this is a bug in a reader." },
  worker_lost: { title: "Worker lost", meaning: "The worker vanished with this task again and again.", remedy: "Look at the workers' machine and log, then retry the group." },
  rate_limited: { title: "Asked to slow down", meaning: "A service that docmill uses asked for a pause.", remedy: "Retry later; docmill waits by itself before it tries again." },
  unavailable: { title: "Service not available", meaning: "Something that docmill needs did not answer.", remedy: "Look at Settings, where each part is checked, then retry the group." },
  disk_full: { title: "Disk full", meaning: "There was no room to store the result.", remedy: "Make room, then retry the group." },
  unreadable: { title: "Could not be read", meaning: "The file or folder could not be opened where it lay.", remedy: "Check its permissions, then bring it in again." },
  file_changed: { title: "Changed while read", meaning: "The file kept changing while it was taken in.", remedy: "Bring it in again when it is at rest." },
  not_found: { title: "Bytes missing", meaning: "The stored bytes are not where they should be.", remedy: "Restore the data directory from a backup; Settings shows what is missing." },
  cancelled: { title: "Cancelled", meaning: "Somebody cancelled the batch.", remedy: "Retry to process them after all." },
  shutting_down: { title: "Interrupted", meaning: "The process was shutting down.", remedy: "Retry the group." },
  invalid_config: { title: "Wrong setting", meaning: "The configuration makes no sense for this document.", remedy: "Correct the setting that the message names, then retry." },
  missing_dependency: { title: "Something is not installed", meaning: "A program or model that this document needs is missing.", remedy: "Settings shows what is missing and how to get it." },
  bug: { title: "Bug in docmill", meaning: "docmill broke a promise of its own.", remedy: "Please report it with the message below." },
};

/** What is stored and has nothing that could be read is no problem that anybody must solve, unless something failed by it. */
export const harmless = (group: { cause: string; failed: number }): boolean =>
  group.failed === 0 && (group.cause === "unsupported_format" || group.cause === "empty_file");

/** The words for a kind; one that this page does not know is shown by its name. */
export function cause(kind: string): Cause {
  const known = CAUSES[kind.toLowerCase()];
  if (known) return known;
  const title = kind.replace(/_/g, " ").toLowerCase();
  return {
    title: title.charAt(0).toUpperCase() + title.slice(1),
    meaning: "See the message of a sample for what happened.",
    remedy: "Retry the group, or look at one of its documents.",
  };
}
