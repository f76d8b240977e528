import type { Piece } from "./highlight";

export function Marked({ pieces }: { pieces: Piece[] }) {
  return <>{pieces.map((piece, i) => (piece.hit ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>))}</>;
}
