import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useEvents, useLive } from "../api/LiveProvider";
import { chosenFiles, type Found } from "./drop";
import type { Upload } from "./item";
import { UploadQueue } from "./queue";

interface Uploads {
  queue: UploadQueue;
  /** Asks the user for files. */
  choose: () => void;
  chooseFolder: () => void;
  add: (files: Found[]) => void;
}

const Context = createContext<Uploads | null>(null);

export function useUploads(): Uploads {
  const uploads = useContext(Context);
  if (!uploads) throw new Error("useUploads outside of UploadProvider");
  return uploads;
}

export function useUploadItems(): Upload[] {
  const { queue } = useUploads();
  return useSyncExternalStore(queue.subscribe, queue.snapshot);
}

export function UploadProvider({ children }: { children: ReactNode }) {
  const [queue] = useState(() => new UploadQueue());
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const { link } = useLive();
  useEvents((events) => queue.hear(events));
  // Events tell what happens from now on; what ended while nobody listened is asked for.
  useEffect(() => { if (link === "live") void queue.askAfter(); }, [link, queue]);
  const uploads = useMemo<Uploads>(
    () => ({
      queue,
      choose: () => files.current?.click(),
      chooseFolder: () => folder.current?.click(),
      add: (found) => queue.add(found),
    }),
    [queue],
  );
  const take = (input: HTMLInputElement) => {
    if (input.files) uploads.add(chosenFiles(input.files));
    // The same file may be chosen again.
    input.value = "";
  };
  return (
    <Context value={uploads}>
      {children}
      <input ref={files} type="file" multiple hidden data-testid="files" onChange={(event) => take(event.target)} />
      <input ref={folder} type="file" multiple hidden data-testid="folder" {...{ webkitdirectory: "" }} onChange={(event) => take(event.target)} />
    </Context>
  );
}
