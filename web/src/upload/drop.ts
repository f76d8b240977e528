/** Files out of a drop, folders too, with their paths inside what was dropped. */

export interface Found { file: File; path: string }

/** Reads every file below the dropped entries. The entries must be taken before the first pause: the browser forgets them. */
export async function droppedFiles(transfer: DataTransfer): Promise<Found[]> {
  const entries = Array.from(transfer.items, (item) => (item.kind === "file" ? item.webkitGetAsEntry() : null));
  const plain = Array.from(transfer.files, (file) => ({ file, path: file.name }));
  if (entries.every((entry) => entry === null)) return plain;
  const found: Found[] = [];
  for (const entry of entries) if (entry) await walk(entry, "", found);
  return found;
}

async function walk(entry: FileSystemEntry, folder: string, found: Found[]): Promise<void> {
  const path = folder ? `${folder}/${entry.name}` : entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, path });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives at most a hundred entries at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const one of some) await walk(one, path, found);
  }
}

/** Files out of a file field; a folder field says where they lay. */
export const chosenFiles = (files: FileList): Found[] =>
  Array.from(files, (file) => ({ file, path: file.webkitRelativePath || file.name }));
