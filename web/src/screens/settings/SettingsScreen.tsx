/** Looks, access of this tab, and whether everything outside of documents is well. */
import { CircleAlert, CircleCheck, CircleMinus, RotateCw } from "lucide-react";
import { accessKey, setAccessKey } from "../../api/http";
import { useDoctor, useMe, useStatus } from "../../api/queries";
import type { DoctorCheck } from "../../api/types";
import { setTheme, type Theme, useTheme } from "../../app/theme";
import { Button } from "../../ui/Button";
import { cx } from "../../ui/cx";
import { bytes, capital, count, humane, shown } from "../../ui/format";
import { Command, Failure } from "../../ui/Notice";
import { Page, Panel, Skeletons } from "../../ui/Page";
import { Said } from "../../ui/Said";

export function SettingsScreen() {
  return (
    <Page title="Settings">
      <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4 md:p-6">
        <Checks />
        <Look />
        <Here />
      </div>
    </Page>
  );
}

function Checks() {
  const doctor = useDoctor();
  const bad = doctor.data?.checks.filter((check) => !check.ok).length ?? 0;
  return (
    <Panel title="Doctor" aside={<Button kind="quiet" busy={doctor.isFetching} icon={<RotateCw size={14} aria-hidden />} onClick={() => void doctor.refetch()}>Look again</Button>}>
      {doctor.error ? <Failure error={doctor.error} what="The checks could not be made" />
        : !doctor.data ? <Skeletons lines={6} />
        : (
          <>
            <p className={cx("flex items-center gap-2 border-b border-line px-4 py-3 font-medium", !doctor.data.ok && "text-red")} role="status">
              {doctor.data.ok ? <CircleCheck size={17} aria-hidden className="text-accent" /> : <CircleAlert size={17} aria-hidden />}
              {doctor.data.ok ? "Everything is as it should be" : `${bad} of ${doctor.data.checks.length} checks need attention`}
            </p>
            <ul className="divide-y divide-line">{shownChecks(doctor.data.checks).map((check) => <Check key={check.name} check={check} />)}</ul>
            <Fences checks={doctor.data.checks.filter(isFence)} />
          </>
        )}
    </Panel>
  );
}

/** The many layers around readers are one line while they all hold. */
const isFence = (check: DoctorCheck): boolean => check.ok && check.hint === null && check.name.startsWith("sandbox_");
const shownChecks = (checks: DoctorCheck[]) => checks.filter((check) => !isFence(check)).sort((a, b) => Number(a.ok) - Number(b.ok));

function Fences({ checks }: { checks: DoctorCheck[] }) {
  if (checks.length === 0) return null;
  return (
    <details className="border-t border-line">
      <summary className="flex items-center gap-2 px-4 py-2 text-sm font-medium hover:bg-hover">
        <CircleCheck size={15} aria-hidden className="text-accent" /> {checks.length} layers around every reader hold
      </summary>
      <ul className="divide-y divide-line border-t border-line">{checks.map((check) => <Check key={check.name} check={check} />)}</ul>
    </details>
  );
}

/** What checks are about, where their short names say too little. */
const CHECKS: Record<string, string> = {
  pdf_pdfium: "PDFium", ocr_tesseract: "Tesseract", ocr_orientation: "Turned scans", ocr_ppocr: "PP-OCR", embed: "Search by meaning", llm: "Language model",
};

function Check({ check }: { check: DoctorCheck }) {
  // What is not there and need not be is neither well nor a fault.
  const off = check.ok && check.detail.startsWith("off: ");
  return (
    <li className="grid grid-cols-[1.25rem_9rem_minmax(0,1fr)] gap-x-2 px-4 py-2 text-sm max-sm:grid-cols-[1.25rem_minmax(0,1fr)]">
      <span className="pt-0.5">
        {off ? <CircleMinus size={15} aria-hidden className="text-ink-3" /> : check.ok ? <CircleCheck size={15} aria-hidden className="text-accent" /> : <CircleAlert size={15} aria-hidden className="text-red" />}
        <span className="sr-only">{off ? "off" : check.ok ? "well" : "not well"}</span>
      </span>
      <span className="font-medium">{CHECKS[check.name] ?? capital(check.name)}</span>
      <div className="min-w-0 max-sm:col-start-2">
        <p className="break-words text-ink-2"><Said text={humane(check.detail)} /></p>
        {check.hint && <p className="break-words text-ink-3"><Said text={check.hint} /></p>}
      </div>
    </li>
  );
}

const THEMES: [Theme, string][] = [["system", "As the system"], ["light", "Light"], ["dark", "Dark"]];

function Look() {
  const theme = useTheme();
  return (
    <Panel title="Look">
      <fieldset className="flex flex-wrap gap-4 p-4">
        <legend className="sr-only">Theme</legend>
        {THEMES.map(([one, name]) => (
          <label key={one} className="flex items-center gap-2">
            <input type="radio" name="theme" checked={theme === one} onChange={() => setTheme(one)} className="accent-[var(--accent)]" /> {name}
          </label>
        ))}
      </fieldset>
    </Panel>
  );
}

function Here() {
  const me = useMe().data;
  const status = useStatus().data;
  return (
    <Panel title="This server">
      <dl className="flex flex-col gap-2 p-4 text-sm [&>div]:grid [&>div]:grid-cols-[9rem_minmax(0,1fr)] [&>div]:gap-3 [&_dt]:text-ink-3">
        {me && <div><dt>You are</dt><dd>{shown(me.name)}, {me.role} of {shown(me.tenant)}</dd></div>}
        {me && <div><dt>Version</dt><dd>{me.version}</dd></div>}
        {status && <div><dt>Documents</dt><dd>{count(status.documents)}</dd></div>}
        {status && status.free_disk_bytes !== null && <div><dt>Disk free</dt><dd>{bytes(status.free_disk_bytes)}</dd></div>}
        {status && <div><dt>Last event</dt><dd>{count(status.last_event)}</dd></div>}
        <div><dt>Settings in force</dt><dd><Command text="docmill config show --origin" /></dd></div>
        <div><dt>API</dt><dd><a href="/docs" className="text-accent-ink underline">what programs can call</a></dd></div>
        {accessKey() && <div><dt>Key</dt><dd><Button onClick={() => { setAccessKey(null); window.location.reload(); }}>Forget the key of this tab</Button></dd></div>}
      </dl>
    </Panel>
  );
}
