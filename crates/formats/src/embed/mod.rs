//! Turning texts into meanings: the work of a child with the role `embed`.
//!
//! The model is all-MiniLM-L6-v2, a small BERT. It is loaded before the sandbox closes; texts come from documents and
//! are no more trusted than these. The same text has the same vector whatever stands beside it.
//!
//! Where to go next: `words` and `tokens` (text to numbers), `network` (the arithmetic), `weights` (the file).

mod network;
mod tokens;
mod weights;
mod words;

use std::fs::File;
use std::path::Path;

use docmill_core::limits::read_capped;
use docmill_core::ports::embedder::{DIMENSIONS, ENGINE};
use docmill_core::wire::{Found, Layer, Work};
use docmill_core::{Error, Result};

use self::network::{Network, Shape};
use self::tokens::Tokenizer;
use self::weights::Weights;
use crate::serve::Role;
use crate::sink::Sink;

/// The names of the model's files in their folder: what it has learnt, and the words it knows.
pub const MODEL_FILES: [&str; 2] = ["model.safetensors", "tokenizer.json"];

/// With its version.
pub const NAME: &str = "all-MiniLM-L6-v2";

const MAX_TOKENIZER_BYTES: u64 = 16 << 20;

const SHAPE: Shape =
    Shape { words: 30_522, positions: 512, width: DIMENSIONS, inner: 1_536, heads: 12, layers: 6 };

/// So many tokens go through the model together. Fewer make matrices that are too small to be multiplied fast; more need
/// memory and gain nothing (docs/adr/0028).
const TOGETHER: usize = 256;

/// A loaded model.
pub struct Embedder {
    tokenizer: Tokenizer,
    network: Network,
}

impl Embedder {
    /// Loads the model from its folder.
    pub fn load(folder: &Path) -> Result<Self> {
        let open = |name: &str| {
            let path = folder.join(name);
            File::open(&path).map_err(|e| {
                Error::missing_dependency(format!("cannot open the model `{}`", path.display()))
                    .with_hint("`docmill models pull` fetches it")
                    .with_source(e)
            })
        };
        let [weights, tokenizer] = MODEL_FILES;
        Self::of(
            &read_capped(open(tokenizer)?, MAX_TOKENIZER_BYTES, tokenizer)?,
            &Weights::open(open(weights)?)?,
            SHAPE,
        )
    }

    fn of(tokenizer: &[u8], weights: &Weights, shape: Shape) -> Result<Self> {
        let tokenizer = Tokenizer::parse(tokenizer)?;
        if tokenizer.largest() as usize >= shape.words {
            return Err(Error::missing_dependency("the tokenizer knows words that the model does not know"));
        }
        Ok(Self { tokenizer, network: Network::load(weights, shape)? })
    }

    /// What is loaded, as `docmill doctor` shows it.
    pub fn engines(&self) -> Vec<Layer> {
        let detail =
            format!("{NAME}, {DIMENSIONS} numbers for the first {} tokens of a text", tokens::MAX_TOKENS);
        vec![Layer { name: ENGINE.to_owned(), active: true, detail }]
    }

    /// The numbers of a text's tokens, as the model takes them.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.tokens(text)
    }

    /// A vector for each text, in their order; `each` gets them in groups, as they are done.
    pub fn embed<T: AsRef<str>>(
        &self,
        texts: &[T],
        mut each: impl FnMut(Vec<Vec<f32>>) -> Result<()>,
    ) -> Result<()> {
        let (mut group, mut tokens) = (Vec::new(), 0);
        for text in texts {
            let own = self.tokenizer.tokens(text.as_ref());
            if tokens + own.len() > TOGETHER && !group.is_empty() {
                each(self.network.embed(&std::mem::take(&mut group))?)?;
                tokens = 0;
            }
            tokens += own.len();
            group.push(own);
        }
        if group.is_empty() { Ok(()) } else { each(self.network.embed(&group)?) }
    }
}

impl Role for Embedder {
    fn work(&mut self, _name: &str, work: Work, _file: Option<File>, sink: &mut dyn Sink) -> Result<()> {
        match work {
            Work::Embed(texts) => {
                #[cfg(feature = "probe")]
                for text in &texts {
                    crate::kinds::misbehave(text);
                }
                self.embed(&texts, |vectors| sink.put(Found::Vectors(vectors)))
            }
            Work::Read { .. } | Work::Recognise(_) => {
                Err(Error::bug("a child that embeds was asked for something else"))
            }
        }
    }
}

/// Makes this thread the only one that computes. Several children share the processors better than the threads of one,
/// and a child that starts no thread has less to be kept in.
pub fn compute_in_one_thread() -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .map_err(|e| Error::bug("threads were started before they could be forbidden").with_source(e))
}

#[cfg(test)]
mod tests;
