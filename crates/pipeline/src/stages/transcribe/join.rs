//! `join-text`: the parts of a long document become one transcription. Runs when the last part has ended, well
//! or badly; pages of parts that are missing are named, never passed over.

use std::collections::BTreeMap;

use async_trait::async_trait;
use docmill_core::artifact::{Page, TRANSCRIPTION, Transcript};
use docmill_core::error::ErrorKind;
use docmill_core::ingestion::Facts;
use docmill_core::ocr::RecognisedPage;
use docmill_core::ports::store::{Done, StepRecord};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::task::{Lease, TaskKind};
use docmill_core::{Error, Result};

use super::part::PREFIX;
use super::understood::understood;
use super::{
    facts, fingerprint, has_members, keep_words, mean_quality, text, transcribed, unpack_next, verdict,
};
use crate::stages::payload::Payload;
use crate::stages::{Context, TaskHandler, document};
use crate::transcripts;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("join-text");

/// The handler.
pub struct JoinText;

#[async_trait]
impl TaskHandler for JoinText {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        let payload = Payload::parse(lease.payload.as_deref())?;
        let Some((_, last)) = payload.pages else {
            return Err(Error::bug(format!("task {} ({KIND}) names no pages", lease.task_id)));
        };
        let limits = &cx.deps.settings.limits;
        let mut joining = Joining::new(lease.subject.media_type.clone(), last, limits.max_text_bytes);
        // One after the other: all of them in memory may be much more than what becomes of them.
        for artifact in cx.deps.store.artifacts(lease.subject.ingestion_id, PREFIX).await? {
            let part =
                transcripts::load(cx.deps.blobs.as_ref(), &artifact.key, limits.max_text_bytes).await?;
            joining.add(part);
            cx.progress();
        }
        let joined = joining.end(payload.of.unwrap_or(last));
        let members = has_members(&joined.transcript);
        // What lies beyond a limit is named as such; the text up to there is good text.
        let result = if joined.gaps { ResultCode::TextUnavailable } else { verdict(&joined.transcript) };
        let (artifact, transcript) = transcripts::save(
            cx.deps.blobs.as_ref(),
            lease.subject.ingestion_id,
            TRANSCRIPTION,
            joined.transcript,
        )
        .await?;
        cx.progress();
        let (transcript, understood) = understood(cx, lease, transcript).await?;
        let facts = Facts { transcription: Some(artifact.key.clone()), ..facts(&transcript, understood) };
        let mut problems = transcript.problems;
        // Recorded as the result of `extract-text`: that is what the next ingestion of this content looks for.
        let record = StepRecord {
            step: text::KIND,
            fingerprint: fingerprint(&document(lease)?.content_hash, cx.deps),
            degraded: !joined.complete || result != ResultCode::Success,
            reused: false,
            facts: facts.clone(),
            artifacts: vec![artifact.clone()],
            problems: problems.clone(),
            members,
        };
        let done = Done { record: Some(record), artifacts: vec![artifact], facts, ..Done::default() };
        let members = unpack_next(cx, lease, members, &mut problems);
        let outcome = transcribed(cx, result, problems, members, &done.facts);
        cx.done(lease, outcome, done)
    }
}

/// All parts in one.
struct Joined {
    transcript: Transcript,
    /// Every page is there.
    complete: bool,
    /// Pages are missing that should have been read.
    gaps: bool,
}

/// What has been gathered of the parts so far.
struct Joining {
    /// The last page that was to be read.
    last: u32,
    max_text_bytes: u64,
    text_bytes: u64,
    media_type: Option<String>,
    languages: BTreeMap<String, u64>,
    metadata: BTreeMap<String, String>,
    pages: BTreeMap<u32, Page>,
    problems: Vec<Problem>,
    recognised: Vec<RecognisedPage>,
    /// Said once, however many parts are concerned.
    words_cut: Option<Problem>,
}

impl Joining {
    fn new(media_type: Option<String>, last: u32, max_text_bytes: u64) -> Self {
        Self {
            last,
            max_text_bytes,
            text_bytes: 0,
            media_type,
            languages: BTreeMap::new(),
            metadata: BTreeMap::new(),
            pages: BTreeMap::new(),
            problems: Vec::new(),
            recognised: Vec::new(),
            words_cut: None,
        }
    }

    fn add(&mut self, part: Transcript) {
        if let Some(language) = &part.language {
            *self.languages.entry(language.clone()).or_default() += part.word_count();
        }
        self.media_type.get_or_insert(part.media_type);
        for (key, value) in part.metadata {
            self.metadata.entry(key).or_insert(value);
        }
        self.problems.extend(part.problems);
        self.recognised.extend(part.recognised);
        let cut = keep_words(&mut self.recognised);
        if self.words_cut.is_none() {
            self.words_cut = cut;
        }
        for page in part.pages.into_iter().filter(|p| (1..=self.last).contains(&p.number)) {
            self.text_bytes += page.text.len() as u64;
            if self.text_bytes <= self.max_text_bytes {
                self.pages.insert(page.number, page);
            }
        }
    }

    /// All parts in one. The document has `of` pages.
    fn end(self, of: u32) -> Joined {
        let Self { last, max_text_bytes, text_bytes, pages, mut problems, .. } = self;
        problems.extend(self.words_cut);
        let mut complete = true;
        if text_bytes > max_text_bytes {
            let message = format!(
                "the document has {text_bytes} bytes of text, more than the limit of {max_text_bytes} bytes; \
                 raise `limits.max_text_bytes`"
            );
            problems.push(Problem::new(ErrorKind::LimitExceeded, message));
            complete = false;
        }
        let missing = gaps(pages.keys().copied(), last);
        let gaps = text_bytes <= max_text_bytes && !missing.is_empty();
        for (from, to) in missing {
            let message = format!("pages {from} to {to} of {of} could not be read");
            let problem =
                Problem { code: ResultCode::TextUnavailable, ..Problem::new(ErrorKind::Corrupt, message) };
            problems.push(problem.on_page(from));
            complete = false;
        }
        if of > last {
            let message =
                format!("the document has {of} pages, of which {last} are read; raise `limits.max_pages`");
            problems.push(Problem::new(ErrorKind::LimitExceeded, message).on_page(last + 1));
            complete = false;
        }
        let pages: Vec<Page> = pages.into_values().collect();
        let most = self.languages.into_iter().max_by_key(|(_, words)| *words);
        let transcript = Transcript {
            v: Transcript::VERSION,
            media_type: self.media_type.unwrap_or_default(),
            language: most.map(|(language, _)| language),
            quality: mean_quality(&pages),
            metadata: self.metadata,
            pages,
            problems,
            recognised: self.recognised,
        };
        Joined { transcript, complete, gaps }
    }
}

/// The runs of page numbers in `1..=last` that are not among `present`, which are in order.
fn gaps(present: impl Iterator<Item = u32>, last: u32) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    let mut next = 1;
    for number in present {
        if number > next {
            out.push((next, number - 1));
        }
        next = number + 1;
    }
    if next <= last {
        out.push((next, last));
    }
    out
}

#[cfg(test)]
mod tests {
    use docmill_core::artifact::TextSource;

    use super::*;

    fn part(numbers: std::ops::RangeInclusive<u32>, language: &str) -> Transcript {
        let page = |number| Page {
            number,
            source: TextSource::Native,
            reason: String::new(),
            quality: Some(1.0),
            text: format!("word {number}"),
        };
        Transcript {
            v: Transcript::VERSION,
            media_type: "application/pdf".into(),
            language: Some(language.into()),
            quality: Some(1.0),
            metadata: BTreeMap::from([("title".into(), format!("from {}", numbers.start()))]),
            pages: numbers.map(page).collect(),
            problems: Vec::new(),
            recognised: Vec::new(),
        }
    }

    fn join(parts: impl IntoIterator<Item = Transcript>, last: u32, of: u32, max_text_bytes: u64) -> Joined {
        let mut joining = Joining::new(None, last, max_text_bytes);
        parts.into_iter().for_each(|part| joining.add(part));
        joining.end(of)
    }

    #[test]
    fn join_with_all_parts_is_complete_and_in_order() {
        let joined = join([part(3..=5, "deu"), part(1..=2, "eng")], 5, 5, 1_000);
        assert!(joined.complete);
        let numbers: Vec<u32> = joined.transcript.pages.iter().map(|p| p.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
        assert_eq!(joined.transcript.language.as_deref(), Some("deu"));
        assert!(joined.transcript.problems.is_empty());
    }

    #[test]
    fn join_without_a_part_names_the_missing_pages() {
        let joined = join([part(1..=2, "eng"), part(5..=6, "eng")], 8, 9, 1_000);
        assert!(!joined.complete && joined.gaps);
        let said: Vec<&str> = joined.transcript.problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(
            said,
            [
                "pages 3 to 4 of 9 could not be read",
                "pages 7 to 8 of 9 could not be read",
                "the document has 9 pages, of which 8 are read; raise `limits.max_pages`"
            ]
        );
    }

    #[test]
    fn join_beyond_the_text_limit_keeps_what_fits_and_says_so() {
        let joined = join([part(1..=4, "eng")], 4, 4, 15);
        assert_eq!(joined.transcript.pages.len(), 2);
        assert!(!joined.complete && !joined.gaps);
    }
}
