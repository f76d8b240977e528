//! The whole graph: what follows what a task found out. Pure, and on one screen.
//!
//! ```text
//! receive -> intake-document -+-> unpack-document -> end (its children start again at intake-document)
//!                             +-> extract-text -+-> end
//!                             |                 +-> extract-text-part ... -> join-text -> end
//!                             |                 +-> unpack-document -> end (where files lie inside)
//!                             |   (where a model is configured, classify-document stands before either end, and where
//!                             |   the document is of a type with a schema, extract-record)
//!                             +-> end (empty, unsupported, nested too deep)
//! ```
//!
//! The other two functions say what follows a task that does not succeed: [`degrade`] when trying again cannot help and
//! what there is must do, [`recover`] when the task becomes a dead letter.
//! Whether it comes to that is decided in `docmill_core::disposition`, never here.

use docmill_core::ErrorKind;
use docmill_core::config::EngineSettings;
use docmill_core::error::ErrorNote;
use docmill_core::ingestion::{IngestionEnd, Stage};
use docmill_core::ports::store::{Done, FanOut};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::task::{NewTask, Size, TaskKind, units};

use crate::stages::payload::{Payload, TextEnd};
use crate::stages::{classify, extract, intake, no_op, transcribe, unpack};

/// What a task found out, as far as the way on depends on it.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Something came in.
    Received,
    /// It has no bytes.
    Empty,
    /// No reader takes it.
    Unsupported {
        /// What it is.
        media_type: String,
    },
    /// It has members, but is itself too many containers deep.
    TooDeep(ErrorNote),
    /// It has members.
    Container,
    /// It has text.
    Readable,
    /// It has so many pages that they are read in parts.
    Long {
        /// How many are read.
        pages: u32,
        /// How many there are.
        of: u32,
    },
    /// One of those parts is read.
    PartRead,
    /// Its text is there, as far as it can be had.
    Transcribed {
        /// The verdict.
        result: ResultCode,
        /// What could not be read.
        problems: Vec<Problem>,
        /// Files lie inside it, which are still to be had.
        members: bool,
        /// A model is asked what it is.
        classify: bool,
        /// The schema of what it is found to be, unless a model is asked first.
        schema: Option<String>,
    },
    /// A model has said what it is, or not.
    Classified {
        /// How its text was read.
        text: TextEnd,
        /// What is wrong with what the model said.
        problem: Option<Problem>,
        /// The schema of what it is found to be.
        schema: Option<String>,
    },
    /// Its record is there, or why it is not.
    Extracted {
        /// How its text was read.
        text: TextEnd,
        /// Why there is none.
        problem: Option<Problem>,
    },
    /// Its members are there, as far as they can be had.
    Unpacked {
        /// The verdict.
        result: ResultCode,
        /// What could not be read.
        problems: Vec<Problem>,
    },
    /// A limit stopped the unpacking.
    Stopped(ErrorNote),
    /// A benchmark's task, or a part of one, ran.
    Nothing,
}

/// What follows.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Another task.
    Next(NewTask),
    /// Several side by side, and one that joins them.
    Parts(FanOut),
    /// Nothing by itself: others of the same ingestion are at work.
    Wait,
    /// The ingestion ends.
    End(IngestionEnd),
}

/// What follows `outcome`. `bytes` is the length of the document, `payload` what its tasks carry along.
pub fn after(outcome: Outcome, bytes: u64, payload: &Payload, engine: &EngineSettings) -> Step {
    let task = |kind: TaskKind, stage, payload: Payload| new_task(kind, stage, bytes, &payload, engine);
    let carried = payload.carried();
    match outcome {
        Outcome::Received => Step::Next(first(bytes, &carried, engine)),
        Outcome::Empty => Step::End(unread(ErrorKind::EmptyFile, "the file has no bytes")),
        Outcome::Unsupported { media_type } => {
            Step::End(unread(ErrorKind::UnsupportedFormat, &format!("no reader for `{media_type}`")))
        }
        Outcome::TooDeep(error) => Step::End(IngestionEnd::failed(error)),
        Outcome::Stopped(error) => Step::End(match &payload.text {
            Some(text) => after_text(text, ResultCode::of(error.kind), vec![Problem::from(&error)]),
            None => IngestionEnd::failed(error),
        }),
        Outcome::Container => Step::Next(task(unpack::document::KIND, Stage::Unpacking, carried)),
        Outcome::Readable => Step::Next(task(transcribe::text::KIND, Stage::Transcribing, carried)),
        Outcome::Long { pages, of } => Step::Parts(FanOut {
            parts: page_ranges(pages, engine.pages_per_part)
                .map(|range| task(transcribe::part::KIND, Stage::Transcribing, carried.with_pages(range)))
                .collect(),
            join: task(transcribe::join::KIND, Stage::Transcribing, carried.with_pages((1, pages)).of(of)),
        }),
        Outcome::PartRead => Step::Wait,
        Outcome::Transcribed { result, problems, members, classify: true, .. } => {
            let carried = carried.with_text(TextEnd { result, problems }).with_members(members);
            // It waits for others and takes nothing, however long the document is.
            Step::Next(new_task(classify::document::KIND, Stage::Classifying, 0, &carried, engine))
        }
        Outcome::Transcribed { result, problems, members, classify: false, schema } => {
            let carried = carried.with_members(members);
            after_meaning(TextEnd { result, problems }, schema, bytes, &carried, engine)
        }
        Outcome::Classified { text, problem, schema } => {
            let carried = carried.with_members(payload.members);
            after_meaning(with(text, problem), schema, bytes, &carried, engine)
        }
        Outcome::Extracted { text, problem } => {
            let carried = carried.with_members(payload.members);
            after_meaning(with(text, problem), None, bytes, &carried, engine)
        }
        Outcome::Unpacked { result, problems } => Step::End(match &payload.text {
            Some(text) => after_text(text, result, problems),
            None => IngestionEnd::completed(result, problems),
        }),
        // Benchmarks fan out as long documents do.
        Outcome::Nothing if payload.pages.is_some() => Step::Wait,
        Outcome::Nothing => Step::End(IngestionEnd::completed(ResultCode::Success, Vec::new())),
    }
}

/// What follows once it is known what a document is: its record, then its members, then the end. What is `carried` says
/// whether it has any.
fn after_meaning(
    text: TextEnd,
    schema: Option<String>,
    bytes: u64,
    carried: &Payload,
    engine: &EngineSettings,
) -> Step {
    if let Some(schema) = schema {
        let payload = carried.with_text(text).with_schema(schema);
        return Step::Next(new_task(extract::record::KIND, Stage::Extracting, bytes, &payload, engine));
    }
    if carried.members {
        let payload = carried.with_text(text).with_members(false);
        return Step::Next(new_task(unpack::document::KIND, Stage::Unpacking, bytes, &payload, engine));
    }
    Step::End(IngestionEnd::completed(text.result, text.problems))
}

/// The end of what has nothing that could be read, with the reason for whoever looks at it later. It is done, and no
/// failure.
fn unread(kind: ErrorKind, reason: &str) -> IngestionEnd {
    IngestionEnd::completed(ResultCode::of(kind), vec![Problem::new(kind, reason)])
}

/// The same end, with one more problem.
fn with(text: TextEnd, problem: Option<Problem>) -> TextEnd {
    TextEnd { problems: text.problems.into_iter().chain(problem).collect(), ..text }
}

/// The end of an ingestion whose text has been read and whose members have been unpacked since: the text's verdict,
/// unless only the members have something to say.
fn after_text(text: &TextEnd, result: ResultCode, problems: Vec<Problem>) -> IngestionEnd {
    let result = if text.result == ResultCode::Success { result } else { text.result };
    IngestionEnd::completed(result, text.problems.iter().cloned().chain(problems).collect())
}

/// What follows a task that met an error which trying again cannot cure: its ingestion completes with what there is.
/// Nothing by itself while parts of it are still at work: their join says what is missing.
pub fn degrade(
    kind: &TaskKind,
    bytes: u64,
    payload: &Payload,
    error: &ErrorNote,
    engine: &EngineSettings,
) -> Step {
    if *kind == transcribe::part::KIND {
        return Step::Wait;
    }
    if let Some(code) = enriching(kind) {
        return unenriched(code, bytes, payload, error, engine);
    }
    Step::End(match &payload.text {
        Some(text) => after_text(text, ResultCode::of(error.kind), vec![Problem::from(error)]),
        None => IngestionEnd::completed(ResultCode::of(error.kind), vec![Problem::from(error)]),
    })
}

/// What follows a task that has become a dead letter (N-5). Without text a document is still a document, and so is one
/// whose text was read and whose members are missing; without its bytes or as a mere container without its members it
/// is not. Nothing by itself while parts of it are still at work.
pub fn recover(
    kind: &TaskKind,
    bytes: u64,
    payload: &Payload,
    error: &ErrorNote,
    engine: &EngineSettings,
) -> Step {
    let problem = |code| Problem { code, ..Problem::from(error) };
    let is_text = *kind == transcribe::text::KIND || *kind == transcribe::join::KIND;
    let has_bytes = error.kind != ErrorKind::NotFound;
    if *kind == transcribe::part::KIND {
        return Step::Wait;
    }
    if let Some(code) = enriching(kind) {
        return unenriched(code, bytes, payload, error, engine);
    }
    Step::End(if let Some(text) = &payload.text {
        let code = ResultCode::FileMissingOrIncomplete;
        IngestionEnd {
            needs_review: true,
            error: Some(error.clone()),
            ..after_text(text, code, vec![problem(code)])
        }
    } else if is_text && has_bytes {
        IngestionEnd {
            needs_review: true,
            error: Some(error.clone()),
            ..IngestionEnd::completed(ResultCode::TextUnavailable, vec![problem(ResultCode::TextUnavailable)])
        }
    } else {
        let code = ResultCode::FileMissingOrIncomplete;
        IngestionEnd { result: code, problems: vec![problem(code)], ..IngestionEnd::failed(error.clone()) }
    })
}

/// What is missing if a task that only adds to a document does not get on.
fn enriching(kind: &TaskKind) -> Option<ResultCode> {
    if *kind == classify::document::KIND {
        Some(ResultCode::NotClassified)
    } else if *kind == extract::record::KIND {
        Some(ResultCode::NotExtracted)
    } else {
        None
    }
}

/// What follows where a document could not be added to for reasons of docmill's own: it has everything else, and its
/// members are still to be had.
fn unenriched(
    code: ResultCode,
    bytes: u64,
    payload: &Payload,
    error: &ErrorNote,
    engine: &EngineSettings,
) -> Step {
    let read = payload.text.clone();
    let text = read.unwrap_or(TextEnd { result: ResultCode::Success, problems: Vec::new() });
    let problem = Problem { code, ..Problem::from(error) };
    let carried = payload.carried().with_members(payload.members);
    after_meaning(with(text, Some(problem)), None, bytes, &carried, engine)
}

/// The first task of something that came in.
pub fn first(bytes: u64, payload: &Payload, engine: &EngineSettings) -> NewTask {
    new_task(intake::document::KIND, Stage::Intake, bytes, payload, engine)
}

/// The task that begins at `stage`, if work can begin there.
pub fn begin_at(stage: Stage, bytes: u64, payload: &Payload, engine: &EngineSettings) -> Option<NewTask> {
    let outcome = match stage {
        Stage::Queued | Stage::Intake => Outcome::Received,
        Stage::Unpacking => Outcome::Container,
        // Neither is a task: a text that is committed again is indexed again, by its words and by what they mean.
        Stage::Transcribing | Stage::Embedding | Stage::Indexing => Outcome::Readable,
        Stage::Classifying => {
            return Some(new_task(classify::document::KIND, stage, 0, payload, engine));
        }
        Stage::Extracting => {
            return Some(new_task(extract::record::KIND, stage, bytes, payload, engine));
        }
        Stage::Rendering | Stage::Completed | Stage::Failed | Stage::Skipped | Stage::Cancelled => {
            return None;
        }
    };
    match after(outcome, bytes, payload, engine) {
        Step::Next(task) => Some(task),
        Step::Parts(_) | Step::Wait | Step::End(_) => None,
    }
}

/// A benchmark's task, which does nothing.
pub fn nothing(engine: &EngineSettings) -> NewTask {
    new_task(no_op::KIND, Stage::Intake, 0, &Payload::default(), engine)
}

impl Step {
    /// Writes what follows into the result of a task.
    pub fn into_done(self, done: &mut Done) {
        match self {
            Self::Next(task) => done.next = Some(task),
            Self::Parts(parts) => done.fan_out = Some(parts),
            Self::Wait => {}
            Self::End(end) => done.end = Some(end),
        }
    }
}

/// Limits that a person may raise; the answer stays the same until then.
pub fn is_limit(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::LimitExceeded | ErrorKind::BombSuspected | ErrorKind::NestingTooDeep)
}

fn new_task(kind: TaskKind, stage: Stage, bytes: u64, payload: &Payload, engine: &EngineSettings) -> NewTask {
    let size = Size::Small;
    NewTask { kind, stage, size, units: units(size, bytes, engine.slots_large), payload: payload.to_json() }
}

/// First and last page of each part.
fn page_ranges(pages: u32, per_part: u32) -> impl Iterator<Item = (u32, u32)> {
    let per_part = per_part.max(1);
    (0..pages.div_ceil(per_part)).map(move |i| (i * per_part + 1, pages.min((i + 1) * per_part)))
}

#[cfg(test)]
mod tests {
    use docmill_core::Error;

    use super::*;

    fn note(error: &Error) -> ErrorNote {
        error.into()
    }

    fn shown(step: &Step) -> String {
        let task = |task: &NewTask| {
            let payload = task.payload.as_deref().unwrap_or_default();
            format!("{} [{}] {} units {payload}", task.kind, task.stage.name(), task.units)
        };
        match step {
            Step::Next(next) => task(next),
            Step::Parts(fan) => {
                let parts: Vec<String> = fan.parts.iter().map(task).collect();
                format!("{} then {}", parts.join(" + "), task(&fan.join))
            }
            Step::Wait => "waits for the others".into(),
            Step::End(end) => ended(end),
        }
    }

    fn ended(end: &IngestionEnd) -> String {
        let review = if end.needs_review { ", needs review" } else { "" };
        let problems: Vec<String> =
            end.problems.iter().map(|p| format!("{:?}: {}", p.code, p.message)).collect();
        format!("ends {} {}{review} {problems:?}", end.status.name(), end.result.name())
    }

    fn read_as(problems: Vec<Problem>, members: bool, classify: bool) -> Outcome {
        Outcome::Transcribed { result: ResultCode::Success, problems, members, classify, schema: None }
    }

    #[test]
    fn graph_is_as_drawn() {
        let engine = EngineSettings::default();
        let broken = vec![Problem::new(ErrorKind::Corrupt, "page 3 is damaged")];
        let outcomes = [
            Outcome::Received,
            Outcome::Empty,
            Outcome::Unsupported { media_type: "application/x-unknown".into() },
            Outcome::TooDeep(note(&Error::nesting_too_deep("16 deep"))),
            Outcome::Container,
            Outcome::Readable,
            Outcome::Long { pages: 450, of: 450 },
            Outcome::PartRead,
            read_as(broken.clone(), false, false),
            read_as(broken.clone(), true, false),
            read_as(broken.clone(), true, true),
            Outcome::Transcribed {
                result: ResultCode::Success,
                problems: Vec::new(),
                members: true,
                classify: false,
                schema: Some("invoice".into()),
            },
            Outcome::Classified {
                text: read(),
                problem: Some(Problem::new(ErrorKind::ContentBlocked, "no")),
                schema: None,
            },
            Outcome::Classified { text: read(), problem: None, schema: Some("receipt".into()) },
            Outcome::Extracted { text: read(), problem: Some(Problem::new(ErrorKind::Timeout, "no words")) },
            Outcome::Unpacked { result: ResultCode::InvalidFile, problems: broken },
            Outcome::Stopped(note(&Error::bomb_suspected("1000:1"))),
            Outcome::Nothing,
        ];
        let mut graph = String::new();
        for outcome in outcomes {
            let name = format!("{outcome:?}");
            let name = name.split(['(', ' ']).next().unwrap_or_default().to_owned();
            let step = after(outcome, 100_000, &Payload::FORCE, &engine);
            graph.push_str(&format!("{name} -> {}\n", shown(&step)));
        }
        insta::assert_snapshot!(graph);
    }

    #[test]
    fn recovery_of_every_kind_is_as_written() {
        let engine = EngineSettings::default();
        let mut table = String::new();
        for error in [Error::child_crashed("signal 11"), Error::not_found("no blob `documents/x`")] {
            for handler in crate::stages::ALL {
                let step = recover(&handler.kind(), 10, &Payload::default(), &note(&error), &engine);
                table.push_str(&format!("{} {} -> {}\n", handler.kind(), error.kind(), shown(&step)));
            }
            let after_text = Payload::default().with_text(read());
            let step = recover(&unpack::document::KIND, 10, &after_text, &note(&error), &engine);
            table.push_str(&format!(
                "{} after text {} -> {}\n",
                unpack::document::KIND,
                error.kind(),
                shown(&step)
            ));
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn degraded_end_of_every_kind_keeps_the_document() {
        let engine = EngineSettings::default();
        let locked = note(&Error::encrypted("a password is needed"));
        for handler in crate::stages::ALL {
            match degrade(&handler.kind(), 10, &Payload::default(), &locked, &engine) {
                Step::End(end) if enriching(&handler.kind()).is_some() => {
                    assert_eq!((end.result, end.problems.len()), (ResultCode::Success, 1));
                }
                Step::End(end) => assert_eq!(end.result, ResultCode::PasswordProtected),
                _ => assert_eq!(handler.kind(), transcribe::part::KIND),
            }
        }
    }

    fn read() -> TextEnd {
        TextEnd {
            result: ResultCode::Success,
            problems: vec![Problem::new(ErrorKind::Corrupt, "page 3 is damaged")],
        }
    }

    #[test]
    fn document_keeps_its_text_whatever_becomes_of_its_members() {
        let engine = EngineSettings::default();
        let payload = Payload::default().with_text(read());
        let limit = note(&Error::bomb_suspected("1000:1"));
        let unpacked = Outcome::Unpacked { result: ResultCode::Success, problems: Vec::new() };
        let mut ends = String::new();
        for outcome in [unpacked, Outcome::Stopped(limit.clone())] {
            ends.push_str(&format!("{}\n", shown(&after(outcome, 10, &payload, &engine))));
        }
        let degraded = degrade(&unpack::document::KIND, 10, &payload, &limit, &engine);
        ends.push_str(&shown(&degraded));
        assert_eq!(
            ends,
            "ends completed SUCCESS [\"InvalidFile: page 3 is damaged\"]\n\
             ends completed LIMIT_EXCEEDED [\"InvalidFile: page 3 is damaged\", \"LimitExceeded: 1000:1\"]\n\
             ends completed LIMIT_EXCEEDED [\"InvalidFile: page 3 is damaged\", \"LimitExceeded: 1000:1\"]"
        );
    }

    #[test]
    fn members_are_unpacked_after_the_model_was_asked_and_the_record_taken() {
        let engine = EngineSettings::default();
        let asked = Payload::default().with_text(read()).with_members(true);
        let classified = Outcome::Classified { text: read(), problem: None, schema: Some("invoice".into()) };
        let Step::Next(next) = after(classified, 10, &asked, &engine) else { panic!("more follows") };
        assert_eq!(next.kind, extract::record::KIND);
        let asked = Payload::parse(next.payload.as_deref()).unwrap();
        assert_eq!((asked.schema.as_deref(), asked.members), (Some("invoice"), true));
        let extracted = Outcome::Extracted { text: read(), problem: None };
        let Step::Next(next) = after(extracted, 10, &asked, &engine) else { panic!("more follows") };
        assert_eq!(next.kind, unpack::document::KIND);
        let payload = Payload::parse(next.payload.as_deref()).unwrap();
        assert_eq!((payload.text, payload.members), (Some(read()), false));
    }

    #[test]
    fn members_are_unpacked_whatever_becomes_of_the_model_and_the_record() {
        let engine = EngineSettings::default();
        let asked = Payload::FORCE.with_text(read()).with_members(true).with_schema("invoice".into());
        let lost = note(&Error::worker_lost("the worker vanished"));
        for kind in [classify::document::KIND, extract::record::KIND] {
            for step in
                [recover(&kind, 10, &asked, &lost, &engine), degrade(&kind, 10, &asked, &lost, &engine)]
            {
                let Step::Next(next) = step else { panic!("its members are lost: {step:?}") };
                assert_eq!(next.kind, unpack::document::KIND);
                let payload = Payload::parse(next.payload.as_deref()).unwrap();
                let text = payload.text.unwrap();
                let told: Vec<ResultCode> = text.problems.iter().map(|problem| problem.code).collect();
                assert_eq!(told, [read().problems[0].code, enriching(&kind).unwrap()]);
                assert_eq!((text.result, payload.force), (ResultCode::Success, true));
            }
        }
    }

    #[test]
    fn page_ranges_cover_every_page_once() {
        for (pages, per_part) in [(1, 200), (200, 200), (201, 200), (450, 200), (7, 0)] {
            let covered: Vec<u32> = page_ranges(pages, per_part).flat_map(|(a, b)| a..=b).collect();
            assert_eq!(covered, (1..=pages).collect::<Vec<_>>());
        }
    }
}
