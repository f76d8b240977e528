import { Dialog } from "../ui/Dialog";
import { ALL_KEYS } from "./keys";

export function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="All keys" onClose={onClose} className="w-[min(42rem,calc(100vw-2rem))]">
      <div className="grid max-h-[70vh] gap-x-8 gap-y-5 overflow-y-auto p-4 sm:grid-cols-2">
        {ALL_KEYS.map(({ group, keys }) => (
          <section key={group} aria-label={group}>
            <h3 className="mb-1.5 text-xs font-semibold text-ink-3">{group}</h3>
            <dl className="flex flex-col gap-1.5">
              {keys.map(([key, does]) => (
                <div key={key + does} className="flex items-center justify-between gap-4">
                  <dt className="text-ink-2">{does}</dt>
                  <dd className="flex gap-1">{key.split(" ").map((one) => <kbd key={one}>{one}</kbd>)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
