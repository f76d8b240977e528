import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";

/** A menu on a button. Not modal: a modal one would put a style element into the page, which the policy forbids. */
export function Menu({ trigger, children, align = "end" }: { trigger: ReactNode; children: ReactNode; align?: "start" | "end" }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content align={align} sideOffset={4} collisionPadding={8} className="z-40 max-h-[min(28rem,var(--radix-dropdown-menu-content-available-height))] min-w-44 overflow-y-auto rounded-lg border border-line-strong bg-surface p-1">
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({ children, icon, onSelect, danger, disabled }: { children: ReactNode; icon?: ReactNode; onSelect: () => void; danger?: boolean; disabled?: boolean }) {
  return (
    <Radix.Item
      disabled={disabled ?? false}
      onSelect={onSelect}
      className={`flex h-8 cursor-pointer items-center gap-2 rounded px-2 text-sm outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover ${danger ? "text-red" : "text-ink"}`}
    >
      {icon}
      {children}
    </Radix.Item>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 py-1 text-xs text-ink-3">{children}</Radix.Label>
);
