//! The life of a child, in order: arguments, prepare, warm up, seal, say what holds, serve until the socket
//! closes. Runs before any runtime, thread or command-line parser exists.

use std::ffi::OsString;
use std::io::{self, Write};
use std::num::{ParseFloatError, ParseIntError};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use docmill_core::ports::reader::PDFIUM;
use docmill_core::wire::{self, FromChild, Layer};
use docmill_core::{Error, Result};
use docmill_formats::embed::Embedder;
use docmill_formats::ocr::{Models, Recogniser, Setup};
use docmill_formats::{Parser, Role};

use super::orders::SocketOrders;
use super::sandbox::Sandbox;

/// The hidden first argument.
const CHILD: &str = "__child";

/// How much nicer a child that embeds is than the others.
const BEHIND_OTHERS: i32 = 10;

/// What the parent says on the command line.
#[derive(PartialEq, Debug)]
struct Arguments {
    role: RoleName,
    parent: u32,
    memory_bytes: u64,
}

/// What this child is for.
#[derive(PartialEq, Debug)]
enum RoleName {
    /// Documents to text, with pdfium as the second engine if it is there.
    Parse(Option<PathBuf>),
    /// Pixels to text.
    Ocr(Setup),
    /// Texts to meanings, with the model of this folder.
    Embed(PathBuf),
}

/// Runs as a child if the command line says so; `None` means that this is an ordinary start.
pub(crate) fn run_if_child(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.nth(1)?;
    if first != CHILD {
        return None;
    }
    Some(match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.chain());
            ExitCode::FAILURE
        }
    })
}

fn run(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let arguments = parse(arguments)?;
    // As the user that the parent runs as: a sandboxed child may not look into the data directory.
    let files = match &arguments.role {
        RoleName::Ocr(setup) => {
            Files { models: setup.ppocr.as_deref().map(Models::read), ..Files::default() }
        }
        RoleName::Parse(pdfium) => {
            Files { pdfium: pdfium.as_deref().map(docmill_formats::load_pdfium), ..Files::default() }
        }
        RoleName::Embed(folder) => {
            docmill_formats::embed::compute_in_one_thread()?;
            // Documents that come in go first: meanings are computed with what reading leaves.
            rustix::process::nice(BEHIND_OTHERS)
                .map_err(|e| Error::unavailable("cannot step back behind other children").with_source(e))?;
            Files { embedder: Some(Embedder::load(folder)?), ..Files::default() }
        }
    };
    let mut sandbox = Sandbox::default();
    sandbox.prepare(arguments.parent, arguments.memory_bytes)?;
    let (orders, mut answers) =
        socket().map_err(|e| Error::unavailable("stdin is not the parent's socket").with_source(e))?;
    std::panic::set_hook(Box::new(|panic| complain(&panic.to_string())));
    let (mut role, engines) = load(&arguments.role, files)?;

    let mut layers = sandbox.seal();
    layers.extend(engines);
    wire::write_frame(&mut answers, &FromChild::Ready { layers })?;
    docmill_formats::serve(orders, answers, role.as_mut())
}

/// What was had of files that lie in the data directory.
#[derive(Default)]
struct Files {
    models: Option<Result<Models>>,
    pdfium: Option<Result<()>>,
    embedder: Option<Embedder>,
}

/// Everything that must be in memory before files are out of reach.
fn load(role: &RoleName, Files { models, pdfium, embedder }: Files) -> Result<(Box<dyn Role>, Vec<Layer>)> {
    Ok(match role {
        RoleName::Parse(path) => {
            docmill_formats::warm_up()?;
            (Box::new(Parser), vec![second_engine(path.as_ref(), pdfium)])
        }
        RoleName::Ocr(setup) => {
            let recogniser = Recogniser::load(setup, models)?;
            let engines = recogniser.engines();
            (Box::new(recogniser), engines)
        }
        RoleName::Embed(_) => {
            let embedder = embedder.ok_or_else(|| Error::bug("a child that embeds has no model"))?;
            let engines = embedder.engines();
            (Box::new(embedder), engines)
        }
    })
}

/// Whether there is a second engine for PDF files. The first one works without it.
fn second_engine(path: Option<&PathBuf>, loaded: Option<Result<()>>) -> Layer {
    let (active, detail) = match (path, loaded) {
        (Some(path), Some(Ok(()))) => (true, format!("second engine for PDF files, {}", path.display())),
        (_, Some(Err(error))) => (false, error.chain()),
        _ => (false, "no second engine for PDF files; `docmill models pull` fetches it".to_owned()),
    };
    Layer { name: PDFIUM.to_owned(), active, detail }
}

/// Both directions of the inherited socket.
fn socket() -> io::Result<(SocketOrders, UnixStream)> {
    let answers = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    Ok((SocketOrders::new(answers.try_clone()?), answers))
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Arguments> {
    let (mut parent, mut memory_bytes, mut role) = (None, None, None);
    let (mut pdfium, mut model) = (None, None);
    let mut setup = Setup { threshold: 0.7, ..Setup::default() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|v| v.into_string().ok()).unwrap_or_default();
        match name.to_str() {
            Some("--role") => role = Some(value),
            Some("--parent") => parent = value.parse().ok(),
            Some("--memory") => memory_bytes = value.parse().ok(),
            Some("--pdfium") => pdfium = Some(PathBuf::from(value)),
            Some("--model") => model = Some(PathBuf::from(value)),
            Some("--library") => setup.library = value.into(),
            Some("--tessdata") => setup.models = value.into(),
            Some("--languages") => setup.languages = value,
            Some("--again") => setup.again = value == "true",
            Some("--threads") => {
                let no_number = |e: ParseIntError| unusable("--threads is no number").with_source(e);
                setup.threads = value.parse().map_err(no_number)?;
            }
            Some("--ppocr") => setup.ppocr = Some(value.into()),
            Some("--threshold") => {
                let no_number = |e: ParseFloatError| unusable("--threshold is no number").with_source(e);
                setup.threshold = value.parse().map_err(no_number)?;
            }
            _ => return Err(unusable(&format!("unknown argument {}", name.display()))),
        }
    }
    let role = match role.as_deref() {
        Some("parse") => RoleName::Parse(pdfium),
        Some("ocr") => RoleName::Ocr(setup),
        Some("embed") => RoleName::Embed(model.ok_or_else(|| unusable("no --model"))?),
        Some(other) => return Err(unusable(&format!("unknown role `{other}`"))),
        None => return Err(unusable("no --role")),
    };
    Ok(Arguments {
        role,
        parent: parent.ok_or_else(|| unusable("no --parent"))?,
        memory_bytes: memory_bytes.ok_or_else(|| unusable("no --memory"))?,
    })
}

fn unusable(what: &str) -> Error {
    Error::invalid_request(format!(
        "{what}; `{CHILD}` is started by docmill itself and not meant to be called"
    ))
}

/// One line on stderr, which the parent keeps to explain a death. There is nobody to tell if that fails.
fn complain(what: &str) {
    let line = what.replace('\n', ": ");
    if writeln!(io::stderr(), "{line}").is_err() {
        // The parent has closed the pipe; this process is about to end anyway.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> impl Iterator<Item = OsString> {
        line.split_whitespace().map(OsString::from).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn ordinary_command_line_is_left_alone() {
        assert!(run_if_child(words("docmill ingest __child")).is_none());
        assert!(run_if_child(words("docmill")).is_none());
    }

    #[test]
    fn parse_takes_role_parent_and_memory() {
        let parsed = parse(words("--role parse --parent 7 --memory 1024")).unwrap();
        assert_eq!(parsed, Arguments { role: RoleName::Parse(None), parent: 7, memory_bytes: 1024 });
        let parsed = parse(words("--role parse --pdfium /lib/x.so --parent 7 --memory 1")).unwrap();
        assert_eq!(parsed.role, RoleName::Parse(Some("/lib/x.so".into())));
        let parsed = parse(words("--role ocr --languages eng+deu --parent 7 --memory 1")).unwrap();
        assert!(matches!(parsed.role, RoleName::Ocr(setup) if setup.languages == "eng+deu"));
        let parsed = parse(words("--role embed --model /models/x --parent 7 --memory 1")).unwrap();
        assert_eq!(parsed.role, RoleName::Embed("/models/x".into()));
        assert!(
            parse(words("--role embed --parent 7 --memory 1")).unwrap_err().message().contains("--model")
        );
    }

    #[test]
    fn parse_without_a_role_or_with_an_unknown_one_is_refused() {
        assert!(parse(words("--parent 7 --memory 1")).unwrap_err().to_string().contains("--role"));
        let error = parse(words("--role cook --parent 7 --memory 1")).unwrap_err();
        assert!(error.to_string().contains("cook"));
    }
}
