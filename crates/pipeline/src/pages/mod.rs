//! Pages for people who look at them: as pictures, and as words with their places.
//!
//! Made on demand by sandboxed readers of their own, so that neither those who look nor those who ingest wait for the
//! other. What was made is kept in memory, and nowhere else (ADR 0022). Whoever calls has found the document among
//! those of the tenant first.

mod crowd;
mod kept;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use docmill_core::artifact::{TextSource, Transcript};
use docmill_core::config::Settings;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::limits::MIB;
use docmill_core::picture::{Picture, PictureSize};
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Allowance, Finding, ReadJob};
use docmill_core::ports::store::DocumentHead;
use docmill_core::wire::{Found, Want};
use docmill_core::words::PageWords;
use docmill_core::{Error, ErrorKind, Result};

use crate::deps::Deps;
use crate::stages::reading::INLINE;
use crate::transcripts;
use crowd::Crowd;
use kept::Kept;

/// Whoever looks does not wait longer than this, in the queue and for the drawing.
const PATIENCE: Duration = Duration::from_secs(30);
/// A page that takes more CPU time is not drawn: a hundred times what pages take.
const MOST_CPU: Duration = Duration::from_secs(10);
/// The same for time that passes without work.
const MOST_WALL: Duration = Duration::from_secs(20);

/// A page that could not be drawn is not tried again for so long: it may have cost a child.
const FAILURE_LASTS: Duration = Duration::from_mins(1);

/// Originals that are held open, so that a remote one is not fetched again for each of its pages: bytes of them…
const OPEN_BYTES: u64 = 512 * MIB;
/// …of which each counts as this at least, which makes them at most 64.
const OPEN_LEAST: u64 = 8 * MIB;
/// An original that nobody looked at for so long is fetched again.
const OPEN_LASTS: Duration = Duration::from_mins(2);

/// A larger original may take as much memory as a large task.
const LARGE_FROM: u64 = 64 * MIB;

/// A transcript with more text is not kept for the next page.
const TRANSCRIPT_UP_TO: u64 = 32 * MIB;

/// What is wanted of a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Wanted {
    Picture(PictureSize),
    Words,
}

/// Which page, and what of it. The content behind a document's id never changes.
type Key = (DocumentId, u32, Wanted);

/// What came of it.
#[derive(Clone)]
enum Made {
    Picture(Picture),
    Words(Arc<PageWords>),
    /// Until when it is not tried again.
    Failed(Arc<ErrorNote>, Duration),
}

/// Shows pages.
pub(crate) struct Viewer {
    made: Mutex<Kept<Key, Made>>,
    /// Who makes what: the second who asks for the same waits for the first.
    making: Mutex<HashMap<Key, Weak<tokio::sync::Mutex<()>>>>,
    originals: Mutex<Kept<BlobKey, (Content, Duration)>>,
    transcript: Mutex<Option<(BlobKey, Arc<Transcript>)>>,
    /// Held by whoever reads a transcript: of many who want pages of long texts, one at a time has one in memory.
    reading: tokio::sync::Mutex<()>,
    crowd: Crowd,
}

impl Viewer {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            made: Mutex::new(Kept::new(settings.view.memory_bytes)),
            making: Mutex::default(),
            originals: Mutex::new(Kept::new(OPEN_BYTES)),
            transcript: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            crowd: Crowd::default(),
        }
    }

    /// A page as a picture.
    pub(crate) async fn picture(
        &self,
        deps: &Deps,
        tenant: TenantId,
        head: &DocumentHead,
        page: u32,
        size: PictureSize,
    ) -> Result<Picture> {
        match self.view(deps, tenant, head, page, Wanted::Picture(size)).await? {
            Made::Picture(picture) => Ok(picture),
            Made::Words(_) | Made::Failed(..) => Err(Error::bug("a picture was kept as something else")),
        }
    }

    /// The words of a page: those that were recognised where its text was, otherwise those that the file holds.
    pub(crate) async fn words(
        &self,
        deps: &Deps,
        tenant: TenantId,
        head: &DocumentHead,
        page: u32,
    ) -> Result<PageWords> {
        let (source, recognised) = self.recognised(deps, head, page).await?;
        if source == Some(TextSource::Ocr)
            && let Some(recognised) = recognised
        {
            return Ok(recognised);
        }
        let Made::Words(words) = self.view(deps, tenant, head, page, Wanted::Words).await? else {
            return Err(Error::bug("words were kept as something else"));
        };
        let mut words = PageWords::clone(&words);
        if source == Some(TextSource::None) {
            // What stands in the file there was judged to be no text.
            words.words.clear();
            words.source = TextSource::None;
        }
        Ok(words)
    }

    /// Where the text of a page is from, and its words if they were recognised.
    async fn recognised(
        &self,
        deps: &Deps,
        head: &DocumentHead,
        page: u32,
    ) -> Result<(Option<TextSource>, Option<PageWords>)> {
        let _reading = self.reading.lock().await;
        let Some(transcript) = self.transcript(deps, head).await? else { return Ok((None, None)) };
        let source = transcript.pages.iter().find(|known| known.number == page).map(|known| known.source);
        let recognised = transcript.recognised.iter().find(|known| known.number == page);
        Ok((source, recognised.map(PageWords::from)))
    }

    /// Forgets everything about a document.
    pub(crate) fn forget(&self, head: &DocumentHead) {
        locked(&self.made).forget(|(document, ..), _| *document == head.document_id);
        locked(&self.originals).remove(&head.key);
        locked(&self.transcript).take_if(|(key, _)| Some(&*key) == head.transcription.as_ref());
    }

    async fn view(
        &self,
        deps: &Deps,
        tenant: TenantId,
        head: &DocumentHead,
        page: u32,
        wanted: Wanted,
    ) -> Result<Made> {
        let key = (head.document_id, page, wanted);
        if let Some(made) = self.made(deps, &key) {
            return made;
        }
        let _place = self.crowd.enter(tenant)?;
        let late = || {
            Error::unavailable(format!("page {page} was not drawn within {} s", PATIENCE.as_secs()))
                .with_retry_after(Duration::from_secs(5))
        };
        tokio::time::timeout(PATIENCE, self.make(deps, tenant, head, key))
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    /// Makes it, unless somebody has done so in the meantime.
    async fn make(&self, deps: &Deps, tenant: TenantId, head: &DocumentHead, key: Key) -> Result<Made> {
        let turn = self.turn(key);
        let _turn = turn.lock().await;
        if let Some(made) = self.made(deps, &key) {
            return made;
        }
        let (_, page, wanted) = key;
        let made = self.read(deps, tenant, head, page, wanted).await;
        let (kept, weight) = match &made {
            Ok(made @ Made::Picture(picture)) => (made.clone(), picture.png.len() as u64),
            Ok(made @ Made::Words(words)) => {
                let words = words.words.iter().map(|word| word.text.len() + size_of_val(word));
                (made.clone(), words.sum::<usize>() as u64)
            }
            Err(error) if is_lasting(error.kind()) => {
                let until = deps.clock.monotonic() + FAILURE_LASTS;
                (Made::Failed(Arc::new(ErrorNote::from(error)), until), error.message().len() as u64)
            }
            Ok(Made::Failed(..)) | Err(_) => return made,
        };
        locked(&self.made).put(key, kept, weight + size_of::<(Key, Made)>() as u64);
        made
    }

    /// What was made of it before.
    fn made(&self, deps: &Deps, key: &Key) -> Option<Result<Made>> {
        let mut kept = locked(&self.made);
        match kept.get(key)? {
            Made::Failed(_, until) if until < deps.clock.monotonic() => {
                kept.remove(key);
                None
            }
            Made::Failed(note, _) => Some(Err(ErrorNote::clone(&note).into())),
            made => Some(Ok(made)),
        }
    }

    fn turn(&self, key: Key) -> Arc<tokio::sync::Mutex<()>> {
        let mut making = locked(&self.making);
        if let Some(turn) = making.get(&key).and_then(Weak::upgrade) {
            return turn;
        }
        // As many as are at work, and no more.
        making.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        making.insert(key, Arc::downgrade(&turn));
        turn
    }

    async fn read(
        &self,
        deps: &Deps,
        tenant: TenantId,
        head: &DocumentHead,
        page: u32,
        wanted: Wanted,
    ) -> Result<Made> {
        let want = match wanted {
            Wanted::Picture(size) => Want { pictures: Some(size), ..Want::KIND },
            Wanted::Words => Want { words: true, ..Want::KIND },
        };
        let content = self.original(deps, head).await?;
        let job = ReadJob {
            tenant,
            name: head.name.clone(),
            allowance: allowance(&deps.settings, content.len()),
            content,
            want: Want { pages: Some((page, page)), ..want },
            limits: deps.settings.limits.for_reader(),
            alone: false,
        };
        let mut findings = deps.viewer.read(job).await?;
        let (mut made, mut pages, mut problem) = (None, None, None);
        loop {
            let found = match findings.recv().await {
                Some(Finding::Found(found)) => found,
                Some(Finding::Waiting) => continue,
                Some(Finding::End(Ok(()))) => break,
                Some(Finding::End(Err(error))) => return Err(error),
                None => return Err(Error::unavailable("the reader stopped without saying why")),
            };
            match found {
                Found::Picture(picture) if picture.number == page => made = Some(Made::Picture(picture)),
                Found::Words(words) if words.number == page => made = Some(Made::Words(Arc::new(words))),
                Found::PageCount(count) => pages = Some(count),
                Found::Warn(warning) => problem = Some(warning),
                _ => {}
            }
        }
        match (made, pages, problem) {
            (Some(made), ..) => Ok(made),
            (None, Some(pages), _) if page > pages => {
                Err(Error::not_found(format!("there is no page {page}: the document has {pages}")))
            }
            (None, _, Some(problem)) => Err(Error::new(problem.kind, problem.message)),
            (None, ..) => Err(Error::not_found(format!("there is no page {page}"))),
        }
    }

    /// The original, opened before or now.
    async fn original(&self, deps: &Deps, head: &DocumentHead) -> Result<Content> {
        let now = deps.clock.monotonic();
        let opened = {
            let mut originals = locked(&self.originals);
            originals.forget(|_, (_, used)| now.saturating_sub(*used) > OPEN_LASTS);
            originals.get(&head.key).map(|(content, _)| content)
        };
        let content = match opened {
            Some(content) => content,
            None => deps.blobs.open(&head.key, INLINE).await?,
        };
        let weight = content.len().max(OPEN_LEAST);
        locked(&self.originals).put(head.key.clone(), (content.clone(), now), weight);
        Ok(content)
    }

    /// The transcript of a document, if it has been read.
    async fn transcript(&self, deps: &Deps, head: &DocumentHead) -> Result<Option<Arc<Transcript>>> {
        let Some(key) = &head.transcription else { return Ok(None) };
        if let Some((kept, transcript)) = &*locked(&self.transcript)
            && kept == key
        {
            return Ok(Some(Arc::clone(transcript)));
        }
        let limit = deps.settings.limits.max_text_bytes;
        let transcript = Arc::new(transcripts::load(deps.blobs.as_ref(), key, limit).await?);
        let text: u64 = transcript.pages.iter().map(|page| page.text.len() as u64).sum();
        if text <= TRANSCRIPT_UP_TO {
            *locked(&self.transcript) = Some((key.clone(), Arc::clone(&transcript)));
        }
        Ok(Some(transcript))
    }
}

fn allowance(settings: &Settings, bytes: u64) -> Allowance {
    let sandbox = &settings.sandbox;
    Allowance {
        cpu_without_progress: sandbox.cpu_without_progress.min(MOST_CPU),
        wall_without_progress: sandbox.wall_without_progress.min(MOST_WALL),
        memory_bytes: if bytes < LARGE_FROM { sandbox.memory_bytes } else { sandbox.memory_bytes_large },
    }
}

/// Whether the page is to blame, so that the next try would end like this one.
fn is_lasting(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound
            | ErrorKind::UnsupportedFormat
            | ErrorKind::EmptyFile
            | ErrorKind::Encrypted
            | ErrorKind::Corrupt
            | ErrorKind::LimitExceeded
            | ErrorKind::BombSuspected
            | ErrorKind::Timeout
            | ErrorKind::OutOfMemory
            | ErrorKind::ChildCrashed
            | ErrorKind::Bug
    )
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
