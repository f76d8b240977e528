/** Shown where the server wants a key and this browser has none that fits. */
import { KeyRound } from "lucide-react";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accessKey, get, setAccessKey } from "../api/http";
import { useLive } from "../api/LiveProvider";
import type { Me } from "../api/types";
import { Button } from "../ui/Button";
import { Command, Empty } from "../ui/Notice";

export function KeyGate() {
  const [typed, setTyped] = useState("");
  const { retry } = useLive();
  const client = useQueryClient();
  const [refused, setRefused] = useState(accessKey() !== null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAccessKey(typed.trim());
    get<Me>("/v1/me").then(
      () => {
        retry();
        void client.resetQueries();
      },
      () => setRefused(true),
    );
  };
  return (
    <Empty icon={<KeyRound size={20} />} title={refused ? "This key does not open the server" : "This server needs a key"}>
      <p>A key begins with <code>dm_</code>. Whoever runs the server makes one with:</p>
      <Command text="docmill key create --role write" />
      <form onSubmit={submit} className="flex w-full gap-2">
        <input
          type="password"
          autoComplete="off"
          aria-label="Key"
          placeholder="dm_…"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="h-8 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2.5 font-mono text-sm"
        />
        <Button type="submit" kind="primary" disabled={!typed.trim()}>Open</Button>
      </form>
      <p className="text-xs text-ink-3">It is kept until this tab is closed, and sent to this server only.</p>
    </Empty>
  );
}
