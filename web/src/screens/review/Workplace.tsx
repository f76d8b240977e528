/** Where a review is worked on. What the reviewer does is in `desk`; what he decides goes to the server, and on to the next. */
import { ArrowLeft, Check, CircleAlert, FileText, Lock as LockIcon, SkipForward, X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { asRefusal } from "../../api/http";
import { usePageWords } from "../../api/queries";
import { type Choice, useDecide } from "../../api/reviews";
import type { DocumentDetail, Review, SchemaCheck } from "../../api/types";
import { useKeys } from "../../app/keys";
import { useParams } from "../../app/url";
import { BoxLayer } from "../../fields/BoxLayer";
import { FieldList, pathsShown, type Work } from "../../fields/FieldList";
import { blocksOf, type FieldLine, pageOf, wholeDoubts } from "../../fields/lines";
import { fieldName } from "../../fields/names";
import { Sure } from "../../fields/Sure";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { count, counted, exact, shown } from "../../ui/format";
import { isDrawn } from "../../ui/PageImage";
import { Page } from "../../ui/Page";
import { Badge } from "../../ui/StateMark";
import { useNow } from "../../ui/Time";
import { useSay } from "../../ui/Toasts";
import { LitWord } from "../document/lit";
import { nextZoom, PageViewer, ZOOMS } from "../document/PageViewer";
import { TextView } from "../document/TextView";
import { begun, chosen, confirmed, type Desk, dropped, isSettled, kept, moved, opened, openLines, pickedWord, taken, typed, undone } from "./desk";
import { storedDrafts, storeDrafts } from "./drafts";
import { History } from "./History";
import { RejectDialog } from "./RejectDialog";
import { type Lock, useLock } from "./useLock";
import { closedWords, reviewTitle, STATES } from "./words";

interface Props {
  review: Review;
  document: DocumentDetail;
  lines: FieldLine[];
  checks: SchemaCheck[];
  /** The review that comes after this one. */
  next: string | null;
  /** How many are open, with this one. */
  left: number;
  onNext: (id: string | null) => void;
  onBack: () => void;
}

export function Workplace({ review, document, lines, checks, next, left, onNext, onBack }: Props) {
  const id = review.review_id;
  const [params, set] = useParams();
  const say = useSay();
  const decide = useDecide(id, review.document_id);
  const isOpen = review.state === "open";
  const { lock, decided } = useLock(id, isOpen);
  // While the lock is asked for, work begins: who is slower hears so from the server when he decides.
  const mine = isOpen && (lock.state === "mine" || lock.state === "asking");
  const [desk, setDesk] = useState<Desk>(() => opened(lines, isOpen ? storedDrafts(id) : {}, params.get("field")));
  const [hovered, setHovered] = useState<string | null>(null);
  const [rejecting, setRejecting] = useState(false);
  const [lit] = useState(() => new LitWord());
  // What would be decided now: what is being typed counts, also without Enter.
  const drafts = useMemo(() => taken(desk, lines).drafts, [desk, lines]);
  useEffect(() => storeDrafts(id, drafts), [id, drafts]);

  const zoom = Number(params.get("zoom")) || 100;
  const pages = review.page_count ?? document.page_count ?? 1;
  const active = lines.find((line) => line.path === desk.active);
  const page = Math.min(pages, Math.max(1, Number(params.get("page")) || pageOf(active) || 1));
  const drawn = isDrawn(document.media_type);
  const words = usePageWords(document.document_id, page, drawn).data;
  const goPage = (to: number) => set({ page: Math.min(pages, Math.max(1, to)) }, true);

  // The page goes where the field is, and the address says which field that is.
  const place = useRef(desk.active);
  useEffect(() => {
    if (place.current === desk.active) return;
    place.current = desk.active;
    set({ field: desk.active, page: pageOf(active) ?? page }, true);
  }, [desk.active, active, page, set]);

  const finish = useCallback(
    (choice: Choice, done: string) =>
      decide.mutate(choice, {
        onSuccess: (answer) => {
          decided();
          storeDrafts(id, {});
          say.done(done);
          onNext(next ?? (answer.next === id ? null : answer.next));
        },
        onError: (error) => {
          setRejecting(false);
          // Another was faster: the screen turns to what he decided, so it is said outside of it.
          if (asRefusal(error).status === 409) say.failed("Not saved", error);
        },
      }),
    [decide, decided, id, next, onNext, say],
  );
  const title = reviewTitle(review);
  const changes = Object.keys(drafts).length;
  const accept = () => {
    if (!mine || decide.isPending) return;
    setDesk((now) => taken(now, lines));
    if (changes > 0) finish({ action: "correct", fields: { ...drafts } }, `${title}: accepted with ${counted(changes, "correction")}`);
    else finish({ action: "accept" }, `${title}: accepted`);
  };
  const open = openLines(desk, lines);
  const confirm = () => {
    if (!mine) return;
    // Nothing doubtful is left, and nothing was before this key: then it is the whole record that is right.
    if (isSettled(desk, lines)) accept();
    else setDesk((now) => confirmed(now, lines));
  };
  const work: Work | undefined = mine
    ? {
        editing: desk.editing, drafts: desk.drafts, checked: desk.checked, confirm,
        edit: (line) => setDesk((now) => begun(now, line, lines)),
        type: (text) => setDesk((now) => typed(now, text)),
        keep: () => setDesk((now) => kept(now, lines)),
        drop: () => setDesk(dropped),
        undo: (path) => setDesk((now) => undone(now, path)),
      }
    : undefined;
  const choose = (path: string) => setDesk((now) => chosen(now, path, lines));
  const move = (by: 1 | -1, paths = pathsShown(blocksOf(lines), false)) => setDesk((now) => moved(now, paths, by, lines));
  /** A click on a word: with a field chosen it begins, or goes on, to make up the field's new value. */
  const onWord = (word: number, range: boolean) =>
    setDesk((now) => {
      const line = lines.find((one) => one.path === now.active);
      return line && words ? pickedWord(begun(now, line, lines), words.words, word, range) : now;
    });
  /** Escape leaves the edit first, and only then the review, also while the page has the keyboard. */
  const leaveEdit = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !desk.editing) return;
    event.preventDefault();
    setDesk(dropped);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    enter: confirm,
    a: () => accept(),
    e: () => { if (mine && active) setDesk((now) => begun(now, active, lines)); },
    r: () => { if (mine) setRejecting(true); },
    d: () => { if (mine) setRejecting(true); },
    "[": () => goPage(page - 1),
    "]": () => goPage(page + 1),
    "+": () => set({ zoom: nextZoom(zoom, 1) }, true),
    "-": () => set({ zoom: nextZoom(zoom, -1) }, true),
  });
  const picked = useMemo(
    () => desk.editing?.picked.map((one) => words?.words[one]).filter((word) => word !== undefined) ?? [],
    [desk.editing, words],
  );
  const whole = wholeDoubts(review, lines, checks);
  const overlay = (times: number): ReactNode => (
    <BoxLayer
      lines={lines} page={page} active={desk.active} lit={hovered} drawn={times} zoom={zoom} onChoose={choose} onHover={setHovered}
      picking={desk.editing !== null} picked={picked}
      onTiny={(factor) => set({ zoom: ZOOMS.find((step) => step >= zoom * factor) ?? 300 }, true)}
    />
  );
  return (
    <Page
      title={title}
      fill
      note={
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone={isOpen ? "neutral" : STATES[review.state].tone}>{isOpen ? fieldName(shown(review.schema)) : STATES[review.state].label}</Badge>
          <Sure value={review.confidence} />
        </span>
      }
      actions={
        <>
          <Button kind="quiet" icon={<ArrowLeft size={14} aria-hidden />} aria-label="Back to the queue" onClick={onBack}><span className="max-sm:hidden">Queue</span></Button>
          <Link href={`/documents/${review.document_id}?tab=fields`} aria-label="Open the document" className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-surface px-2.5 text-sm font-medium hover:bg-hover">
            <FileText size={14} aria-hidden /> <span className="max-sm:hidden">Document</span>
          </Link>
        </>
      }
    >
      <LockBanner review={review} lock={lock} next={next} onNext={() => onNext(next)} />
      <div onKeyDown={leaveEdit} className="flex min-h-0 flex-1 flex-col lg:grid lg:grid-cols-[minmax(0,1fr)_clamp(24rem,42%,36rem)]">
        <div className="min-h-0 min-w-0 max-lg:h-[42%] max-lg:shrink-0 max-lg:border-b max-lg:border-line lg:border-r lg:border-line">
          {drawn
            ? <PageViewer document={document} page={page} pages={pages} zoom={zoom} words={words} wanted={NONE} lit={lit} onPage={goPage} onZoom={(to) => set({ zoom: to }, true)} onWord={mine ? onWord : undefined} overlay={overlay} />
            : <div className="h-full overflow-y-auto bg-surface" tabIndex={0} data-scrolls role="region" aria-label="Text"><TextView document={document} page={null} query="" lit={lit} onPage={goPage} /></div>}
        </div>
        <div className="flex min-h-0 flex-1 flex-col bg-surface">
          <div className="flex h-10 shrink-0 items-center justify-between gap-3 border-b border-line px-4 text-sm">
            <span role="status" className={cx("flex items-center gap-1.5 font-medium", open.length === 0 && "text-accent-ink")}>
              {!isOpen ? counted(lines.filter((line) => line.value !== null).length, "field") : open.length > 0 ? `${counted(open.length, "field")} to look at` : <><Check size={14} aria-hidden /> Nothing doubtful left</>}
            </span>
            {isOpen && left > 0 && <span className="text-xs text-ink-3">{count(left)} in the queue</span>}
          </div>
          <div data-scrolls tabIndex={0} role="region" aria-label="Fields" className="min-h-0 flex-1 overflow-y-auto">
            {whole.length > 0 && (
              <ul className="flex flex-col gap-1 border-b border-line bg-red-soft px-4 py-2 text-sm">
                {whole.map((words) => <li key={words} className="flex gap-1.5"><CircleAlert size={14} aria-hidden className="mt-0.5 shrink-0 text-red" /> <span>{shown(words)}</span></li>)}
              </ul>
            )}
            <FieldList lines={lines} active={desk.active} lit={hovered} onActive={choose} onHover={setHovered} work={work} onMove={move} />
            <History history={review.history} />
          </div>
          {isOpen && (
            <div className="border-t border-line px-4 py-2.5">
              {decide.error && asRefusal(decide.error).status !== 409 && <p role="alert" className="mb-2 flex gap-1.5 text-sm text-red"><CircleAlert size={14} aria-hidden className="mt-0.5 shrink-0" /> <span>{refused(decide.error)}</span></p>}
              <div className="flex flex-wrap items-center gap-2">
                <Button kind="primary" busy={decide.isPending} disabled={!mine} icon={<Check size={14} aria-hidden />} onClick={() => accept()}>
                  {changes > 0 ? `Accept with ${counted(changes, "correction")}` : "Accept"} <Key>a</Key>
                </Button>
                <Button kind="danger" disabled={!mine} icon={<X size={14} aria-hidden />} onClick={() => setRejecting(true)}>Reject <Key>r</Key></Button>
                <Button kind="quiet" disabled={next === null} icon={<SkipForward size={14} aria-hidden />} className="ml-auto" onClick={() => onNext(next)}>Next <Key>n</Key></Button>
              </div>
            </div>
          )}
        </div>
      </div>
      {rejecting && (
        <RejectDialog schema={review.schema} busy={decide.isPending} onClose={() => setRejecting(false)} onReject={(reason) => finish({ action: "reject", reason }, `${title}: rejected`)} />
      )}
    </Page>
  );
}

const NONE: string[] = [];

/** The server names field, value and rule; the rest is what to do about it. */
function refused(error: unknown): string {
  const { message, hint } = asRefusal(error);
  return `Not saved: ${message}${hint ? `; ${hint}` : ""}`;
}

const Key = ({ children }: { children: string }) => <kbd aria-hidden className="ml-0.5 border-current bg-transparent text-current opacity-70 max-sm:hidden">{children}</kbd>;

/** Why nothing can be decided here, if that is so. */
function LockBanner({ review, lock, next, onNext }: { review: Review; lock: Lock; next: string | null; onNext: () => void }) {
  useNow();
  if (review.state !== "open") return <Bar><span className="font-medium">{shown(closedWords(review))}.</span> <span className="text-ink-2">It can be looked at, and no longer decided.</span></Bar>;
  if (lock.state === "refused") return <Bar><span className="font-medium">This can only be looked at:</span> <span className="text-ink-2">{lock.words}.</span></Bar>;
  if (lock.state !== "taken") return null;
  const who = review.locked_by && review.locked_by !== "local" ? shown(review.locked_by) : "Somebody else";
  return (
    <Bar action={next !== null && <Button icon={<SkipForward size={14} aria-hidden />} onClick={onNext}>Next one</Button>}>
      <span className="font-medium">{who} has this open{review.locked_until ? <> until <time dateTime={review.locked_until} title={exact(review.locked_until)}>{new Date(review.locked_until).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}</time></> : null}.</span>{" "}
      <span className="text-ink-2">You can look; as soon as it is free it is yours.</span>
    </Bar>
  );
}

const Bar = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-blue-line bg-blue-soft px-4 py-2 md:px-6">
    <LockIcon size={15} aria-hidden className="shrink-0 text-blue" />
    <p className="min-w-0 flex-1 basis-60">{children}</p>
    {action}
  </div>
);
