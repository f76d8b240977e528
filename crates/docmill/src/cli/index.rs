//! `docmill index`.

use std::time::Duration;

use docmill_core::Result;
use docmill_core::answer::{CountAnswer, IndexState, StatusAnswer};
use docmill_core::call::Call;
use docmill_pipeline::EngineOptions;

use super::{counts, print};
use crate::context::{Context, Exit};
use crate::session::Session;
use crate::signals::Signals;

/// How often the state of the index is asked for.
const LOOK: Duration = Duration::from_millis(200);

/// Build the search index again
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Rebuild(Rebuild),
}

/// Fill the index again from what was read; search goes on meanwhile, with what it had
#[derive(Debug, clap::Args)]
struct Rebuild {
    /// Also what documents mean, which takes the model a while
    #[arg(long)]
    meanings: bool,
    /// Return at once; whoever works next does it
    #[arg(long)]
    no_wait: bool,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let Action::Rebuild(rebuild) = self.action;
        let signals = Signals::listen()?;
        let session = Session::open(&cx.settings, &cx.clock, "index").await?;
        let outcome = rebuild.run(cx, &session, &signals).await;
        session.close(cx.settings.engine.shutdown_grace).await?;
        outcome
    }
}

impl Rebuild {
    async fn run(&self, cx: &Context, session: &Session, signals: &Signals) -> Result<Exit> {
        let answer: CountAnswer = session.ask(Call::IndexRebuild { meanings: self.meanings }).await?;
        if !self.no_wait {
            session.need_engine(EngineOptions::new(&cx.settings.engine)).await?;
            while !self.is_done(session).await? {
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = signals.first() => {
                        cx.terminal.note("left unfinished: the next `docmill serve` or `docmill work` goes on");
                        return Ok(Exit::Interrupted);
                    }
                }
            }
        }
        let verb = if self.no_wait { "to be indexed again" } else { "indexed again" };
        print(cx, &answer, |answer| counts::sentence(answer, "document", "documents", verb))?;
        Ok(Exit::Ok)
    }

    async fn is_done(&self, session: &Session) -> Result<bool> {
        let status: StatusAnswer = session.ask(Call::Status).await?;
        let done = |state: IndexState| state.watermark >= state.last;
        Ok(done(status.index) && (!self.meanings || status.meanings.is_none_or(done)))
    }
}
