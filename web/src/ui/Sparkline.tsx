/** A small area chart of the last values. */
import { cx } from "./cx";

interface Props { values: number[]; /** Values that fill the width; fewer stand at the right. */ room: number; width?: number; height?: number; label: string; className?: string }

/** The line through `values`, from left to right, as SVG paths: the line itself and the area under it. */
export function paths(values: number[], room: number, width: number, height: number): { line: string; area: string } {
  if (values.length < 2) return { line: "", area: "" };
  const top = Math.max(...values, 1e-9);
  const step = width / (room - 1);
  const from = width - (values.length - 1) * step;
  const points = values.map((value, i) => `${(from + i * step).toFixed(1)},${(height - 1.5 - (value / top) * (height - 4)).toFixed(1)}`);
  const line = `M${points.join("L")}`;
  return { line, area: `${line}L${width},${height}L${from.toFixed(1)},${height}Z` };
}

export function Sparkline({ values, room, width = 240, height = 48, label, className }: Props) {
  const { line, area } = paths(values, room, width, height);
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" className={cx("block w-full text-accent", className)}>
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} stroke="var(--line)" vectorEffect="non-scaling-stroke" />
      <path d={area} fill="currentColor" opacity="0.12" />
      <path d={line} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
