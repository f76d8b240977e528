/** Files can be dropped anywhere. */
import { Upload } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { useSay } from "../ui/Toasts";
import { droppedFiles } from "./drop";
import { useUploads } from "./UploadProvider";

const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");

export function DropZone({ children }: { children: ReactNode }) {
  const { add } = useUploads();
  const say = useSay();
  const [over, setOver] = useState(false);
  // Entering a child leaves its parent: only the balance tells whether the pointer is inside.
  const depth = useRef(0);
  const enter = (by: number) => {
    depth.current = Math.max(0, depth.current + by);
    setOver(depth.current > 0);
  };
  return (
    <div
      className="h-full"
      onDragEnter={(event) => { if (hasFiles(event)) { event.preventDefault(); enter(1); } }}
      onDragOver={(event) => { if (hasFiles(event)) event.preventDefault(); }}
      onDragLeave={(event) => { if (hasFiles(event)) enter(-1); }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        droppedFiles(event.dataTransfer).then(
          (found) => (found.length > 0 ? add(found) : say.failed("Nothing to upload", new Error("the folder holds no files"))),
          (error: unknown) => say.failed("The drop could not be read", error),
        );
      }}
    >
      {children}
      {over && (
        <div className="pointer-events-none fixed inset-2 z-50 grid place-items-center rounded-lg border-2 border-dashed border-accent bg-[color-mix(in_srgb,var(--accent-soft)_88%,transparent)]">
          <div className="flex items-center gap-3 text-lg font-semibold text-accent-ink">
            <Upload size={22} aria-hidden /> Drop files or folders to bring them in
          </div>
        </div>
      )}
    </div>
  );
}
