//! `docmill key`.

use clap::builder::PossibleValuesParser;
use docmill_core::access::{KeyAnswer, KeysAnswer, Role};
use docmill_core::answer::CountAnswer;
use docmill_core::call::Call;
use docmill_core::id::KeyId;
use docmill_core::{Error, Result};

use super::{ask, print};
use crate::context::{Context, Exit};
use crate::terminal::{relative, table};

/// Make, list and revoke keys to the HTTP interface
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a key for the tenant; it is shown once
    Create {
        /// What it is for
        #[arg(long, value_name = "NAME", default_value = "key")]
        name: String,
        /// What it allows: read, write or admin
        #[arg(long, value_name = "ROLE", default_value = "write", value_parser = roles())]
        role: String,
    },
    /// List the keys of the tenant
    List,
    /// Take a key back
    Revoke {
        /// The id of the key
        #[arg(value_name = "ID")]
        id: String,
    },
}

fn roles() -> PossibleValuesParser {
    PossibleValuesParser::new(Role::ALL.iter().map(|role| role.name()))
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        match self.command {
            Command::Create { name, role } => {
                let role = Role::from_name(&role)
                    .ok_or_else(|| Error::invalid_request(format!("`{role}` is not a role")))?;
                let made: KeyAnswer = ask(cx, "key", Call::KeyCreate { name, role }).await?;
                print(cx, &made, |made| made.key.clone())?;
                if !cx.terminal.json {
                    cx.terminal.note("this is shown once; send it as `Authorization: Bearer dm_…`");
                }
            }
            Command::List => {
                let answer: KeysAnswer = ask(cx, "key", Call::Keys).await?;
                print(cx, &answer, |answer| human(cx, answer))?;
            }
            Command::Revoke { id } => {
                let id: KeyId = id.parse()?;
                let answer: CountAnswer = ask(cx, "key", Call::KeyRevoke { id }).await?;
                print(cx, &answer, |_| format!("key {id} opens nothing any more"))?;
            }
        }
        Ok(Exit::Ok)
    }
}

fn human(cx: &Context, answer: &KeysAnswer) -> String {
    if answer.keys.is_empty() {
        return "no keys".to_owned();
    }
    let now = cx.clock.now();
    let rows: Vec<Vec<String>> = answer
        .keys
        .iter()
        .map(|key| {
            vec![
                key.key_id.to_string(),
                key.role.name().to_owned(),
                format!("{}…", key.shown),
                relative(now, key.created_at),
                key.revoked_at.map_or_else(String::new, |at| relative(now, at)),
                key.name.clone(),
            ]
        })
        .collect();
    table(&["KEY", "ROLE", "BEGINS", "MADE", "REVOKED", "NAME"], &rows)
}
