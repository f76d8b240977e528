//! Settings as the rest of docmill uses them: validated, with nothing optional left that has a default.

mod settings;

pub use settings::{EngineSettings, KindSettings, SandboxMode, SandboxSettings, Settings};
