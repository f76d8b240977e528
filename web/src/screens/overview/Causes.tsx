import { CircleCheck } from "lucide-react";
import { Link } from "wouter";
import { useProblems } from "../../api/queries";
import { Bar } from "../../ui/Bar";
import { cause, harmless } from "../../ui/causes";
import { count } from "../../ui/format";
import { Pending } from "../../ui/Page";

export function Causes() {
  const problems = useProblems();
  if (!problems.data) return <Pending of={problems} what="The problems could not be had" lines={3} />;
  const groups = problems.data.problems.slice(0, 6);
  if (groups.length === 0) {
    return <p className="flex items-center gap-2 p-4 text-ink-3"><CircleCheck size={16} aria-hidden className="text-accent" /> Nothing has failed.</p>;
  }
  const top = Math.max(...groups.map((group) => group.count));
  return (
    <ul className="divide-y divide-line">
      {groups.map((group) => (
        <li key={group.cause}>
          <Link href={`/problems#${group.cause}`} className="grid grid-cols-[minmax(0,1fr)_7rem_3.5rem] items-center gap-3 px-4 py-2 hover:bg-hover">
            <span className="truncate">{cause(group.cause).title}</span>
            <Bar label={cause(group.cause).title} total={top} parts={[
              { value: group.failed, className: "bg-red", label: "failed" },
              { value: group.count - group.failed, className: harmless(group) ? "bg-line-strong" : "bg-amber-line", label: harmless(group) ? "stored" : "incomplete" },
            ]} />
            <span className="text-right font-medium">{count(group.count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
