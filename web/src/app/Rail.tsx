import { Link, useLocation } from "wouter";
import { useProblems, useStatus } from "../api/queries";
import { useOpenReviews } from "../api/reviews";
import { harmless } from "../ui/causes";
import { cx } from "../ui/cx";
import { short } from "../ui/format";
import { isAt, SCREENS } from "./nav";

interface Badge { n: number; bad: boolean; means: string }

function useBadges(): Record<string, Badge | undefined> {
  const status = useStatus().data;
  const reviews = useOpenReviews();
  const problems = useProblems().data?.problems.reduce((sum, group) => sum + (harmless(group) ? 0 : group.count), 0) ?? 0;
  return {
    "/library": status && status.ingestions.in_progress > 0 ? { n: status.ingestions.in_progress, bad: false, means: "in progress" } : undefined,
    "/reviews": reviews ? { n: reviews, bad: false, means: "to review" } : undefined,
    "/problems": problems > 0 ? { n: problems, bad: true, means: "need attention" } : undefined,
    "/dead": status && status.tasks.dead > 0 ? { n: status.tasks.dead, bad: true, means: "need attention" } : undefined,
  };
}

export function Rail({ onGo }: { onGo?: () => void }) {
  const [location] = useLocation();
  const badges = useBadges();
  return (
    <nav aria-label="Main" className="flex h-full flex-col gap-0.5 overflow-y-auto p-2">
      {SCREENS.map(({ path, name, icon: Icon, key }) => {
        const here = isAt(path, location);
        const badge = badges[path];
        return (
          <Link
            key={path}
            href={path}
            onClick={onGo}
            aria-current={here ? "page" : undefined}
            title={`${name} (${key})`}
            className={cx(
              "flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm transition-colors duration-100",
              here ? "bg-accent-soft font-semibold text-accent-ink" : "text-ink-2 hover:bg-hover hover:text-ink",
              path === "/access" && "mt-auto",
            )}
          >
            <Icon size={16} aria-hidden className="shrink-0" />
            <span className="flex-1">{name}</span>
            {badge && (
              <span className={cx("rounded-full px-1.5 text-xs font-medium", badge.bad ? "bg-red-soft text-red" : "bg-sunken text-ink-2")}>
                {short(badge.n)}
                <span className="sr-only"> {badge.means}</span>
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}
