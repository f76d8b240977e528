/** One thing to filter by: a button that says what is chosen, and a menu of what can be. */
import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { count, shown } from "../../ui/format";
import { Menu, MenuItem, MenuLabel } from "../../ui/Menu";

export interface Choice { value: string; name: string; count?: number | undefined }

interface Props {
  name: string;
  value: string | null;
  /** What is chosen, in words. */
  label?: string | null;
  choices: Choice[];
  onChoose: (value: string | null) => void;
  children?: ReactNode;
}

export function Facet({ name, value, label, choices, onChoose, children }: Props) {
  const chosen = label ?? choices.find((one) => one.value === value)?.name ?? value;
  return (
    <Menu
      align="start"
      trigger={
        <Button kind={chosen ? "chosen" : "plain"} aria-label={chosen ? `${name}: ${shown(chosen)}` : name} className="max-w-52">
          <span className="truncate">{chosen ? shown(chosen) : name}</span><ChevronDown size={14} aria-hidden className="shrink-0" />
        </Button>
      }
    >
      <MenuLabel>{name}</MenuLabel>
      <MenuItem icon={<Tick on={!chosen} />} onSelect={() => onChoose(null)}>Any</MenuItem>
      {choices.map((one) => (
        <MenuItem key={one.value} icon={<Tick on={one.value === value} />} onSelect={() => onChoose(one.value)}>
          <span className="max-w-64 flex-1 truncate">{shown(one.name)}</span>
          {one.count !== undefined && <span className="pl-4 text-xs text-ink-3">{count(one.count)}</span>}
        </MenuItem>
      ))}
      {children}
    </Menu>
  );
}

const Tick = ({ on }: { on: boolean }) => <Check size={14} aria-hidden className={cx("shrink-0 text-accent", !on && "invisible")} />;
