/** Short words about what was just done, with what went wrong if it did. */
import { CircleAlert, CircleCheck, X } from "lucide-react";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { asRefusal } from "../api/http";

interface Toast { id: number; good: boolean; text: string }
interface Say { done: (text: string) => void; failed: (what: string, error: unknown) => void }

const Context = createContext<Say | null>(null);

export function useSay(): Say {
  const say = useContext(Context);
  if (!say) throw new Error("useSay outside of Toasts");
  return say;
}

let next = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const say = useMemo<Say>(() => {
    const add = (good: boolean, text: string) => {
      const id = next++;
      setToasts((all) => [...all.slice(-3), { id, good, text }]);
      // Bad news stays until it is read.
      if (good) setTimeout(() => drop(id), 4000);
    };
    return {
      done: (text) => add(true, text),
      failed: (what, error) => {
        const refusal = asRefusal(error);
        add(false, `${what}: ${refusal.message}${refusal.hint ? `; ${refusal.hint}` : ""}`);
      },
    };
  }, [drop]);
  return (
    <Context value={say}>
      {children}
      <div role="status" aria-live="polite" className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-center gap-2">
        {toasts.map((toast) => (
          <div key={toast.id} className="pointer-events-auto flex max-w-xl items-start gap-2 rounded-lg border border-line-strong bg-surface px-3 py-2">
            {toast.good
              ? <CircleCheck size={16} className="mt-0.5 shrink-0 text-accent" aria-hidden />
              : <CircleAlert size={16} className="mt-0.5 shrink-0 text-red" aria-hidden />}
            <span className="min-w-0 break-words">{toast.text}</span>
            <button type="button" aria-label="Dismiss" onClick={() => drop(toast.id)} className="ml-1 text-ink-3 hover:text-ink">
              <X size={14} aria-hidden />
            </button>
          </div>
        ))}
      </div>
    </Context>
  );
}
