//! A reader that does what the file's name says: `crash.txt` kills its child, `zip.zip` has members, and so on.
//! Its content is a script for containers only: one member a line, `path` or `path=content`; what is `told` is its text.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::ErrorNote;
use docmill_core::ocr::{OcrMode, Scan};
use docmill_core::ports::Reader;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Finding, Findings, ReadJob};
use docmill_core::wire::{Found, Kind, Layer};
use docmill_core::{Error, Result};
use tokio::sync::{Notify, mpsc};

#[derive(Default)]
pub(crate) struct FakeReader {
    /// Readings of text and members that were begun.
    pub(crate) readings: AtomicU64,
    /// Senders of readings that hang until somebody drops their receiver.
    pub(crate) hanging: Mutex<Vec<mpsc::Sender<Finding>>>,
    /// Somebody hangs now.
    pub(crate) hangs: Notify,
}

impl FakeReader {
    /// Lets a hanging reading come to its end.
    pub(crate) fn let_go(&self) {
        let sender = self.hanging.lock().unwrap().pop().expect("nobody hangs");
        sender.try_send(Finding::End(Ok(()))).expect("somebody listens");
    }

    /// Returns once a hanging reading has been given up by whoever wanted it.
    pub(crate) async fn given_up(&self) {
        let sender = self.hanging.lock().unwrap().pop().expect("nobody hangs");
        sender.closed().await;
    }
}

#[async_trait]
impl Reader for FakeReader {
    async fn read(&self, job: ReadJob) -> Result<Findings> {
        let Content::Inline(bytes) = &job.content else { return Err(Error::bug("not part of the fake")) };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let script = script(&job, &text);
        let (sender, findings) = mpsc::channel(script.len() + 1);
        for finding in script {
            sender.try_send(finding).expect("the channel holds the whole script");
        }
        if job.want.text || job.want.children {
            self.readings.fetch_add(1, Ordering::SeqCst);
            assert!(!job.name.starts_with("panic"), "told to panic");
            if job.name.starts_with("hang") {
                self.hanging.lock().unwrap().push(sender);
                self.hangs.notify_one();
            }
        }
        Ok(findings)
    }

    async fn drain(&self) {}

    async fn layers(&self) -> Result<Vec<Layer>> {
        Ok(Vec::new())
    }

    async fn shutdown(&self) {}
}

fn script(job: &ReadJob, text: &str) -> Vec<Finding> {
    let container = job.name.ends_with(".zip");
    let supported = !job.name.ends_with(".odd");
    let kind = Kind {
        media_type: if job.name.ends_with(".pdf") { "application/pdf" } else { "text/plain" }.into(),
        format: supported.then(|| "fake".to_owned()),
        container,
    };
    let mut out = vec![Finding::Found(Found::Kind(kind))];
    let end = |out: &mut Vec<Finding>, result| out.push(Finding::End(result));
    if !supported || !(job.want.text || job.want.children) {
        end(&mut out, Ok(()));
        return out;
    }
    if job.name.starts_with("hang") {
        return out;
    }
    let failure = match job.name.split('.').next().unwrap_or_default() {
        "crash" => Some(Error::child_crashed("signal 11")),
        "once" if !job.alone && job.allowance.memory_bytes == 1 << 30 => Some(Error::timeout("too slow")),
        "slow" => Some(Error::timeout("too slow")),
        "locked" => Some(Error::encrypted("a password is needed")),
        "bomb" => Some(Error::bomb_suspected("expands a thousand times")),
        _ => None,
    };
    if job.want.children {
        members(&mut out, text);
    } else if let Some((first, last)) = job.want.pages {
        out.extend((first..=last).map(page));
    } else if job.name.starts_with("scan") {
        for number in 1..=3 {
            out.extend(scan(number, job.want.ocr));
        }
    } else if job.name.starts_with("told") {
        out.push(told(1, text.to_owned()));
    } else if job.name.starts_with("letter") {
        out.push(page(1));
        for picture in [1, 2] {
            let mut scan = Scan::new(1, (2, 1), vec![0, 255]).unwrap();
            scan.inline = Some(picture);
            out.push(Finding::Found(Found::Scan(scan)));
        }
    } else if job.name.starts_with("long") {
        out.push(Finding::Found(Found::PageCount(5)));
        out.extend((1..=5).map(page));
    } else if failure.is_none() {
        out.push(page(1));
    }
    end(&mut out, failure.map_or(Ok(()), Err));
    out
}

fn page(number: u32) -> Finding {
    told(number, format!("page {number}"))
}

fn told(number: u32, text: String) -> Finding {
    Finding::Found(Found::Page(Page {
        number,
        source: TextSource::Native,
        reason: "fake".into(),
        quality: Some(1.0),
        text,
    }))
}

/// A page without text, and its pixels if they are wanted.
fn scan(number: u32, ocr: OcrMode) -> Vec<Finding> {
    let page = Page {
        number,
        source: TextSource::None,
        reason: "picture".into(),
        quality: None,
        text: String::new(),
    };
    let mut out = vec![Finding::Found(Found::Page(page))];
    if ocr != OcrMode::Never {
        out.push(Finding::Found(Found::Scan(Scan::new(number, (2, 1), vec![0, 255]).unwrap())));
    }
    out
}

fn members(out: &mut Vec<Finding>, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let declared = lines.iter().filter(|line| !line.is_empty()).count() as u64;
    out.push(Finding::Found(Found::Declared(declared)));
    for (position, line) in (0_u64..).zip(lines) {
        match line.split_once('=') {
            Some((path, content)) => {
                let path = path.to_owned();
                out.push(Finding::Found(Found::ChildBegin { position, path, bytes: None }));
                out.push(Finding::Found(Found::ChildChunk(content.as_bytes().to_vec().into())));
                out.push(Finding::Found(Found::ChildEnd));
            }
            // Declared, but the reader never comes to it.
            None if line == "never" => {}
            None => {
                let error = ErrorNote::from(&Error::encrypted("a password is needed"));
                out.push(Finding::Found(Found::ChildFailed { position, path: line.to_owned(), error }));
            }
        }
    }
}
