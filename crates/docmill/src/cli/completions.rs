//! `docmill completions`.

use clap::CommandFactory;
use clap_complete::Shell;
use docmill_core::Result;

use super::Cli;
use crate::context::Exit;
use crate::terminal::Terminal;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    shell: Shell,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "docmill", &mut script);
        Terminal { json: false, quiet: false }.bytes(&script)?;
        Ok(Exit::Ok)
    }
}
