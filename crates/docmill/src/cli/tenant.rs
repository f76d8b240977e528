//! `docmill tenant`.

use docmill_core::Result;
use docmill_core::access::TenantsAnswer;
use docmill_core::call::Call;

use super::{ask, print};
use crate::context::{Context, Exit};
use crate::terminal::{relative, table};

/// Make and list tenants
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a tenant, if there is none of that name
    Create {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// List all tenants
    List,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let call = match self.command {
            Command::Create { name } => Call::TenantCreate { name },
            Command::List => Call::Tenants,
        };
        let answer: TenantsAnswer = ask(cx, "tenant", call).await?;
        print(cx, &answer, |answer| human(cx, answer))?;
        Ok(Exit::Ok)
    }
}

fn human(cx: &Context, answer: &TenantsAnswer) -> String {
    let now = cx.clock.now();
    let rows: Vec<Vec<String>> = answer
        .tenants
        .iter()
        .map(|line| vec![line.tenant_id.to_string(), relative(now, line.created_at), line.name.clone()])
        .collect();
    table(&["TENANT", "MADE", "NAME"], &rows)
}
