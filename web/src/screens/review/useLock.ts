/** A review is held while it is open here, and given back when it is left: two people never work on the same one. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { asRefusal } from "../../api/http";
import { giveBackLock, takeLock } from "../../api/reviews";

export type Lock =
  | { state: "asking" }
  | { state: "mine" }
  /** Somebody else has it; it is asked for again by itself. */
  | { state: "taken"; words: string }
  /** It cannot be had: the key may only read, or the review is gone. */
  | { state: "refused"; words: string };

/** While another has it, or the server is away. */
const AGAIN_MS = 10_000;
/** Renewed long before it ends. */
const renewal = (until: string): number => Math.max(15_000, (new Date(until).getTime() - Date.now()) / 2);

export function useLock(review: string, wanted: boolean): { lock: Lock; /** A decision ends the lock: there is nothing to give back. */ decided: () => void } {
  const client = useQueryClient();
  const [lock, setLock] = useState<Lock>({ state: "asking" });
  const held = useRef(false);
  useEffect(() => {
    if (!wanted) return;
    let left = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const giveBack = () => {
      if (held.current) giveBackLock(review);
      held.current = false;
    };
    const ask = () => {
      takeLock(review).then(
        (mine) => {
          if (left) return giveBackLock(review);
          held.current = true;
          setLock({ state: "mine" });
          timer = setTimeout(ask, renewal(mine.locked_until));
        },
        (error: unknown) => {
          if (left) return;
          const { status, message, retryable } = asRefusal(error);
          if (status === 409) {
            held.current = false;
            setLock({ state: "taken", words: message });
            // Who has it, or what was decided meanwhile.
            void client.invalidateQueries({ queryKey: ["review", review] });
          } else if (!retryable) setLock({ state: "refused", words: message });
          if (status === 409 || retryable) timer = setTimeout(ask, AGAIN_MS);
        },
      );
    };
    ask();
    window.addEventListener("pagehide", giveBack);
    return () => {
      left = true;
      clearTimeout(timer);
      window.removeEventListener("pagehide", giveBack);
      giveBack();
    };
  }, [review, wanted, client]);
  return { lock, decided: useCallback(() => { held.current = false; }, []) };
}
