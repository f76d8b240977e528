//! Kills the real process with SIGKILL at every named point, starts it again, and asserts that nothing is lost
//! and nothing happened twice: what is there afterwards equals what an undisturbed run leaves. Points that concern the
//! store come a second time, with the store on PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test binary without a harness: a failed step is a failed case"
)]

#[path = "../../backends/tests/postgres_server/mod.rs"]
mod postgres_server;
mod support;

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus, Stdio};

use docmill_core::clock::{IdGen as _, SystemIds};
use docmill_core::crash::POINTS;
use docmill_testkit::archive::archive;
use docmill_testkit::conformance::{self, Availability};
use docmill_testkit::llm::{Act, ScriptedLlm};
use docmill_testkit::state::assert_same;
use libtest_mimic::Trial;
use postgres_server::TestDatabase;
use support::Mill;
use support::aftermath::{aftermath, processes_of};

/// Points that an ordinary ingest does not pass, and the command that does.
const SPECIAL: &[(&str, Special)] = &[
    ("classify.answered", Special::Model),
    ("classify.answer_kept", Special::Model),
    ("extract.answered", Special::Model),
    ("extract.answer_kept", Special::Model),
    ("shutdown.before_release", Special::Shutdown),
    ("shutdown.after_release", Special::Shutdown),
    ("engine.before_renew", Special::SlowLease),
    ("engine.after_renew", Special::SlowLease),
];

#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// The engine is told to end.
    Shutdown,
    /// Leases are so short that they are renewed within the run.
    SlowLease,
    /// A model is asked.
    Model,
    /// Everything is moved to another data directory.
    Migrate,
}

/// How a point is reached.
fn special(point: &str) -> Option<Special> {
    if point.starts_with("migrate.") {
        return Some(Special::Migrate);
    }
    SPECIAL.iter().find(|(name, _)| *name == point).map(|(_, special)| *special)
}

/// A document with text and files inside, and a mail, which has only parts and says much of itself.
const LETTER: &[u8] = include_bytes!("../../../fixtures/docx/letter.docx");
const MAIL: &[u8] = include_bytes!("../../../fixtures/eml/mixed.eml");

/// Texts, a duplicate, an empty file, an unknown type, ZIPs inside ZIPs, and documents with files inside.
fn fill(mill: &Mill, more: usize) {
    for n in 0..more {
        mill.write(format!("more/{n}.txt"), format!("one of many, number {n}"));
    }
    for n in 0..12 {
        mill.write(format!("{n}.txt"), format!("document number {n} speaks of harbours and lighthouses"));
    }
    mill.write("copy-of-3.txt", "document number 3 speaks of harbours and lighthouses");
    mill.write("empty.txt", "");
    mill.write("unknown.bin", [0_u8, 159, 146, 150, 255, 0, 1, 2].repeat(10));
    let members: Vec<_> =
        (0..70).map(|n| (format!("m/{n}.txt"), format!("member {n} of the inner box"))).collect();
    let inner = archive(members.iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
    let outer =
        archive([("inner.zip", inner.as_slice()), ("note.txt", b"a note beside the inner box".as_slice())]);
    mill.write("box.zip", outer);
    mill.write("letter.docx", LETTER);
    mill.write("mail.eml", MAIL);
}

fn ingest(mill: &Mill, crash_at: Option<&str>, special: Option<Special>) -> Option<i32> {
    let mut command = mill.command(&["ingest", "--batch", "pile", "in"]);
    if let Some(point) = crash_at {
        command.env("DOCMILL_CRASH_AT", point);
    }
    if special == Some(Special::SlowLease) {
        command.env("DOCMILL_ENGINE_RENEW_EVERY", "1ms");
    }
    killed_or_code(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap())
}

fn killed_or_code(status: ExitStatus) -> Option<i32> {
    match status.signal() {
        Some(9) => None,
        signal => {
            assert_eq!(signal, None);
            status.code()
        }
    }
}

/// An ingest that is told to end in the middle, so that it hands work back.
fn interrupted(mill: &Mill, point: &str) -> bool {
    let mut command = mill.command(&["ingest", "--batch", "pile", "in"]);
    command.env("DOCMILL_CRASH_AT", point).env("DOCMILL_ENGINE_SHUTDOWN_GRACE", "1ms");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let database = mill.data().join("docmill.db");
    // As soon as work is under way.
    while child.try_wait().unwrap().is_none() {
        let busy =
            rusqlite::Connection::open_with_flags(&database, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
                .and_then(|c| {
                    c.query_row("SELECT count(*) FROM task WHERE state = 'running'", [], |r| {
                        r.get::<_, i64>(0)
                    })
                });
        if busy.is_ok_and(|n| n > 0) {
            break;
        }
    }
    if child.try_wait().unwrap().is_none() {
        support::signal(&child, rustix::process::Signal::TERM);
    }
    child.wait().unwrap().signal() == Some(9)
}

/// Points beyond their first hit, where a later one means something else.
const LATER: &[&str] = &[
    "store.children.row:40",
    "store.group.before_commit:6",
    "engine.after_commit:20",
    "unpack.after_chunk:2",
    "index.after_commit:2",
    "migrate.blob.before:40",
    "migrate.blob.after:40",
    "migrate.chunk.before_commit:5",
    "migrate.chunk.after_commit:9",
];

/// The same on PostgreSQL, where rows are written together and some points are passed once for all of them.
const LATER_ON_POSTGRES: &[&str] = &[
    "store.group.before_commit:6",
    "store.children.row:2",
    "engine.after_commit:20",
    "unpack.after_chunk:2",
    "index.after_commit:2",
];

/// Where the store on PostgreSQL goes other ways than the embedded one.
fn concerns_the_store(point: &str) -> bool {
    let parts = ["store.", "batch.", "sweep.", "index."];
    let more = ["worker.registered", "engine.after_claim", "engine.before_renew", "engine.after_renew"];
    parts.iter().any(|part| point.starts_with(part)) || more.contains(&point)
}

/// A place with its store on a server, and the database that goes with it.
fn place_on(server: &str) -> (Mill, TestDatabase) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let name = format!("docmill_test_{}", SystemIds.next().simple());
    let database = runtime.block_on(TestDatabase::make(server, &name)).unwrap().unwrap();
    (Mill::new().with_settings(&[("DOCMILL_STORE_URL", &database.url())]), database)
}

/// What is left on the server is what an undisturbed run leaves in a data directory.
fn survives_on(server: &str, point: &str) {
    let special = special(point.split(':').next().unwrap_or(point));
    let (mill, _database) = place_on(server);
    fill(&mill, 0);
    assert_eq!(ingest(&mill, Some(point), special), None, "the process was not killed there");
    assert_eq!(processes_of(&mill), 0, "I9: a process is left behind");
    assert_eq!(ingest(&mill, None, None), Some(0), "the second run ends well");
    assert_same(&aftermath(&mill), &undisturbed(0));
}

/// Moves everything to the directory `moved`.
fn migrate(mill: &Mill, crash_at: Option<&str>) -> Option<i32> {
    let mut command = mill.command(&["migrate", "--to-data", "moved"]);
    if let Some(point) = crash_at {
        command.env("DOCMILL_CRASH_AT", point);
    }
    killed_or_code(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap())
}

/// A move that is killed and gone on with leaves what was there, and a source that is as it was.
fn survives_moving(point: &str) {
    let mill = Mill::new();
    fill(&mill, 0);
    assert_eq!(ingest(&mill, None, None), Some(0));
    let before = aftermath(&mill);
    assert_eq!(migrate(&mill, Some(point)), None, "the process was not killed there");
    assert_eq!(migrate(&mill, None), Some(0), "the second run ends well");
    let moved = mill.with_data("moved");
    // The index of the new place is made by whoever works there first.
    moved.run(&["work", "--exit-when-idle"]).expect(0);
    assert_same(&aftermath(&moved), &before);
    assert_same(&aftermath(&mill), &before);
}

/// A place with a model that finds the same in every document.
fn place_with(llm: &ScriptedLlm) -> Mill {
    let settings = [("DOCMILL_LLM_URL", llm.url()), ("DOCMILL_LLM_MODEL", "scripted".to_owned())];
    let mill = Mill::new().with_settings(&settings.each_ref().map(|(name, value)| (*name, value.as_str())));
    fill(&mill, 0);
    for n in 0..4 {
        mill.write(format!("bill-{n}.txt"), BILL.replace("R-2024-17", &format!("R-2024-{n}")));
    }
    mill
}

/// A document whose record rules leave doubtful.
const BILL: &str = "INVOICE\n\nInvoice number: R-2024-17\nInvoice date: 2024-03-09\nDue date: 2024-04-09\n\
    Bill to: Jones GmbH\nPayment terms: 30 days\n\nWe kindly ask for 1190.00 and remain yours, Kestrel Traders\n";

/// What it says: bills are bills, and everything else speaks of harbours.
fn said(asked: &serde_json::Value) -> Act {
    if asked.pointer("/response_format/json_schema/name").is_some_and(|name| name == "record") {
        let fields = serde_json::json!({ "seller_name": "Kestrel Traders", "total_amount": "1190.00" });
        return Act::Say(fields.to_string());
    }
    if asked.to_string().contains("R-2024-") {
        let bill = serde_json::json!({
            "title": "Invoice", "summary": null, "date": null, "type": "invoice", "tags": ["bill"],
        });
        return Act::Say(bill.to_string());
    }
    Act::describe("harbours and lighthouses")
}

/// What was asked before the kill is asked again only if its answer could not be kept.
fn survives_asking(point: &str) {
    // Both ask at the same address, because that is part of what an answer depends on.
    let model = ScriptedLlm::new(|_, asked| said(asked));
    let undisturbed = place_with(&model);
    assert_eq!(ingest(&undisturbed, None, None), Some(0));
    let questions = model.calls();
    let mill = place_with(&model);
    assert_eq!(ingest(&mill, Some(point), None), None, "the process was not killed there");
    assert_eq!(ingest(&mill, None, None), Some(0), "the second run ends well");
    // Those that were on their way when the process died: a worker has at most eight of them in hand.
    let twice = model.calls() - 2 * questions;
    let most = if point.ends_with(".answered") { 8 } else { 7 };
    assert!(twice <= most, "{twice} of {questions} questions were paid for twice");
    assert_same(&aftermath(&mill), &aftermath(&undisturbed));
}

fn undisturbed(more: usize) -> String {
    let mill = Mill::new();
    fill(&mill, more);
    assert_eq!(ingest(&mill, None, None), Some(0));
    aftermath(&mill)
}

fn survives(point: &str) {
    let special = special(point.split(':').next().unwrap_or(point));
    if special == Some(Special::Migrate) {
        return survives_moving(point);
    }
    if special == Some(Special::Model) {
        return survives_asking(point);
    }
    // Enough that work is still under way when the engine is told to end; whether something must be handed back
    // then is a matter of moments, so there are several.
    let (more, moments) = if special == Some(Special::Shutdown) { (600, 10) } else { (0, 1) };
    let killed = (0..moments).find_map(|_| {
        let mill = Mill::new();
        fill(&mill, more);
        let killed = match special {
            Some(Special::Shutdown) => interrupted(&mill, point),
            _ => ingest(&mill, Some(point), special).is_none(),
        };
        killed.then_some(mill)
    });
    let Some(mill) = killed else { panic!("the process was not killed there") };
    assert_eq!(processes_of(&mill), 0, "I9: a process is left behind");
    assert_eq!(ingest(&mill, None, None), Some(0), "the second run ends well");
    assert_same(&aftermath(&mill), &undisturbed(more));
}

fn main() -> ExitCode {
    assert!(POINTS.len() >= 40);
    let mut trials: Vec<Trial> = POINTS
        .iter()
        .chain(LATER)
        .map(|point| {
            Trial::test(format!("kill_at::{point}"), move || {
                survives(point);
                Ok(())
            })
        })
        .collect();
    let (server, ignored) = Availability::AskedBy(postgres_server::VARIABLE).look();
    let on_postgres = POINTS.iter().filter(|point| concerns_the_store(point)).chain(LATER_ON_POSTGRES);
    trials.extend(on_postgres.map(|point| {
        let server = server.clone();
        Trial::test(format!("kill_at::postgres::{point}"), move || {
            survives_on(&server.unwrap_or_default(), point);
            Ok(())
        })
        .with_ignored_flag(ignored)
    }));
    conformance::run(trials)
}
