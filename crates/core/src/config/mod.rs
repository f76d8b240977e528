//! Everything that can be set, from what somebody wrote to what code receives.
//!
//! `keys` is the one table of settings: their names, what may be written and what they mean; `key` is what a row
//! can do. `options` holds values as they were written, each with where it stood, and turns them into `settings`.
//! `value` reads and writes sizes and durations; `reference` prints the table as a page.
//!
//! Nothing here reads a file or the environment: `docmill::config` does.

mod check;
mod key;
mod keys;
mod llm;
mod options;
mod reference;
mod settings;
mod value;

pub use key::{Key, nearest};
pub use keys::KEYS;
pub use llm::{LlmSettings, Provider, Secret, Vision};
pub use options::{ConfigProblem, Options, Raw, Schemes, Written, WrittenAt, resolve};
pub use reference::reference;
pub use settings::{
    Ask, BlobSettings, CloudVariables, EngineSettings, ExtractSettings, KindSettings, LogFormat, LogLevel,
    LogSettings, OcrSettings, OtelSettings, SandboxMode, SandboxSettings, Settings, UnderstandSettings,
};
pub use value::{bytes_text, duration_text, parse_address, parse_bytes, parse_duration};
