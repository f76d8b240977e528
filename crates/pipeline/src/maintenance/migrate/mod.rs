//! Moves everything from one installation to another: blobs first, then the rows that name them, then a look at both.
//!
//! The source is frozen and not changed, apart from work that dead workers left: that is handed back first. The target
//! says that it is half done, and how far, until everything has been compared; a kill at any moment is followed by the
//! same command. What a step has done is stored with what it did, so going on repeats nothing.

mod blobs;
mod rows;
mod state;
mod still;

use std::collections::BTreeMap;
use std::sync::Arc;

use docmill_core::answer::{MigrateAnswer, MigratedBlobs};
use docmill_core::clock::Clock;
use docmill_core::id::TenantId;
use docmill_core::ledger::Ledger;
use docmill_core::ports::transfer::{Found, Mark, Origin, TABLES, Table, Value, in_use};
use docmill_core::ports::{Blobs, Store, Transfer};
use docmill_core::{Error, Result, crash};

use self::state::State;
use super::prune::FOLDERS;

/// One installation.
pub struct Side {
    /// Its store.
    pub store: Arc<dyn Store>,
    /// The whole of the store.
    pub transfer: Arc<dyn Transfer>,
    /// Where its bytes lie.
    pub blobs: Arc<dyn Blobs>,
    /// The same in words, without anything secret.
    pub blobs_place: String,
}

/// How to go about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MigrateOptions {
    /// Throw away what is half done in the target, and begin again.
    pub restart: bool,
    /// Both installations have the same blobs: they are only looked at.
    pub same_blobs: bool,
}

/// What is being done, for whoever watches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress {
    /// In words.
    pub doing: String,
    /// So many.
    pub done: u64,
    /// Of so many, or fewer.
    pub of: u64,
}

/// Told of every bit of progress.
pub type Watch<'w> = &'w (dyn Fn(Progress) + Send + Sync);

/// Moves everything. The caller has made sure that no other process uses an embedded side.
pub async fn migrate(
    from: &Side,
    to: &Side,
    options: MigrateOptions,
    clock: &dyn Clock,
    watch: Watch<'_>,
) -> Result<MigrateAnswer> {
    let began = clock.monotonic();
    let found = to.transfer.found().await?;
    if let (Found::InUse(table), true) = (&found, options.restart) {
        return Err(in_use(to.transfer.place(), table));
    }
    let handed_back = still::hand_back(from).await?;
    from.transfer.freeze().await?;
    crash::point("migrate.frozen");
    let state =
        State::of(from.transfer.as_ref(), Some(to.transfer.as_ref()), "reading the source", watch).await?;
    let ledgers = ledgers(from).await?;

    let (marks, resumed) = match found {
        Found::InUse(table) => {
            // It may be this very source, moved by a run that was killed as it wanted to say so.
            if !state.is_held_by(to.transfer.as_ref(), watch).await? {
                return Err(in_use(to.transfer.place(), table));
            }
            (None, true)
        }
        Found::HalfDone(origin, marks) if !options.restart => {
            check_origin(from, to, &origin, &state)?;
            (Some(marks), true)
        }
        begun @ (Found::HalfDone(..) | Found::Empty) => {
            if begun == Found::Empty && !options.same_blobs {
                refuse_foreign_blobs(to).await?;
            }
            let origin = Origin {
                from: from.transfer.place().to_owned(),
                state: state.hash(),
                blobs: to.blobs_place.clone(),
                at: clock.now(),
            };
            to.transfer.begin(&origin).await?;
            (Some(BTreeMap::new()), false)
        }
    };
    crash::point("migrate.begun");

    let mut moved = MigratedBlobs::default();
    if let Some(marks) = &marks {
        moved = blobs::copy(from, to, mark_of(marks, blobs::STEP), &state, watch).await?;
        for table in TABLES {
            rows::copy(from, to, table, mark_of(marks, table.name), &state, watch).await?;
        }
        check(&state, to, watch).await?;
    }
    if self::ledgers(to).await? != ledgers {
        return Err(Error::bug("the ledger of the target differs from that of the source")
            .with_hint("the source is as it was; keep it, and report this"));
    }
    crash::point("migrate.checked");
    if marks.is_some() {
        to.transfer.finish().await?;
    }
    crash::point("migrate.finished");
    Ok(MigrateAnswer {
        from: from.transfer.place().to_owned(),
        to: to.transfer.place().to_owned(),
        resumed,
        handed_back,
        rows: state.rows(),
        tables: state.counts(),
        replaced: state.replaced,
        blobs: moved,
        state: state.hash(),
        balanced: ledgers.values().all(Ledger::balanced),
        expected: ledgers.values().map(|ledger| ledger.expected).sum(),
        elapsed_ms: (clock.monotonic().saturating_sub(began)).as_millis() as u64,
    })
}

fn mark_of(marks: &BTreeMap<String, Mark>, step: &str) -> Mark {
    marks.get(step).cloned().unwrap_or_default()
}

/// Refuses to go on with a copy of something else.
fn check_origin(from: &Side, to: &Side, origin: &Origin, state: &State) -> Result<()> {
    let place = to.transfer.place();
    let message = if origin.state != state.hash() {
        if origin.from == from.transfer.place() {
            format!("{} has been used since its copy in {place} was begun, {}", origin.from, origin.at)
        } else {
            format!("{place} holds a half-done copy of {}, not of {}", origin.from, from.transfer.place())
        }
    } else if origin.blobs != to.blobs_place {
        format!("the half-done copy in {place} has its blobs in {}, not in {}", origin.blobs, to.blobs_place)
    } else {
        return Ok(());
    };
    Err(Error::conflict(message)
        .with_hint("throw the half-done copy away and begin again with `--restart`, or name another target"))
}

/// Blobs that are there before anything was copied belong to somebody. Each of two installations in one place would take
/// the other's blobs for orphans.
async fn refuse_foreign_blobs(to: &Side) -> Result<()> {
    for folder in FOLDERS {
        let mut listing = to.blobs.list(folder).await?;
        while let Some(piece) = listing.recv().await {
            if let Some(info) = piece?.first() {
                return Err(Error::conflict(format!(
                    "{} is in use: it holds `{}`",
                    to.blobs_place, info.key
                ))
                .with_hint("name an empty folder, bucket or prefix with `--to-blobs URL`"));
            }
        }
    }
    Ok(())
}

/// Insists that the target holds what the source does.
async fn check(state: &State, to: &Side, watch: Watch<'_>) -> Result<()> {
    let copy = State::of(to.transfer.as_ref(), None, "comparing", watch).await?;
    match state.difference(&copy) {
        None => Ok(()),
        Some(difference) => Err(Error::bug(format!("the copy differs from the source: {difference}"))
            .with_hint("the source is as it was; begin again with `--restart`, and report this")),
    }
}

/// The ledger of every tenant.
async fn ledgers(side: &Side) -> Result<BTreeMap<TenantId, Ledger>> {
    let mut ledgers = BTreeMap::new();
    for tenant in tenants(side.transfer.as_ref()).await? {
        ledgers.insert(tenant, side.store.ledger(tenant, None).await?);
    }
    Ok(ledgers)
}

async fn tenants(transfer: &dyn Transfer) -> Result<Vec<TenantId>> {
    let missing = || Error::bug("tenants are not described");
    let table = Table::named("tenant").ok_or_else(missing)?;
    let place = table.place("tenant_id").ok_or_else(missing)?;
    let mut pieces = transfer.rows(table, None).await?;
    let mut tenants = Vec::new();
    while let Some(rows) = pieces.recv().await {
        for row in rows? {
            match row.get(place) {
                Some(Value::Id(id)) => tenants.push(TenantId(*id)),
                _ => return Err(missing()),
            }
        }
    }
    Ok(tenants)
}
