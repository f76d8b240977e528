//! `doctor`: one check for each thing that can be wrong outside a document, with what to do about it.

use std::io::Write as _;

use docmill_core::answer::{DoctorAnswer, DoctorCheck};
use docmill_core::config::SandboxMode;
use docmill_core::id::TenantId;
use docmill_core::ports::reader::PDFIUM;
use docmill_core::ports::{Embedder, Ocr};
use docmill_core::text::size;
use docmill_core::wire::Layer;
use docmill_core::{Error, Result};

use super::Inner;
use crate::blocking::blocking;
use crate::maintenance::verify;

/// An index so many changes behind is worth a look.
const MAX_LAG: i64 = 10_000;

/// Looks at everything. Never fails: what cannot be looked at is a check that is not ok.
pub(super) async fn examine(inner: &Inner, tenant: TenantId) -> DoctorAnswer {
    let mut checks = vec![
        check("data_directory", data_directory(inner).await, "make the data directory writable for docmill"),
        check("disk", disk(inner).await, "make room, or lower `limits.min_free_disk_bytes`"),
        check("store", store(inner, tenant).await, "look at the log for what the database says"),
        check("blobs", blobs(inner).await, "restore the missing files from a backup"),
        check("index", index(inner).await, "`docmill index rebuild` makes it anew from the store"),
    ];
    checks.extend(sandbox(inner).await);
    checks.extend(recognition(inner.deps.ocr.as_ref()).await);
    checks.extend(meaning(inner.deps.embedder.as_ref()).await);
    checks.push(model(inner));
    DoctorAnswer { ok: checks.iter().all(|check| check.ok), checks }
}

fn check(name: &str, result: Result<String>, hint: &str) -> DoctorCheck {
    match result {
        Ok(detail) => DoctorCheck { name: name.into(), ok: true, detail, hint: None },
        Err(error) => DoctorCheck {
            name: name.into(),
            ok: false,
            detail: error.chain(),
            hint: Some(error.hint().unwrap_or(hint).to_owned()),
        },
    }
}

async fn data_directory(inner: &Inner) -> Result<String> {
    let data = inner.deps.settings.data.clone();
    let probe = data.join(format!(".doctor-{}", inner.deps.ids.next()));
    blocking(move || {
        let failed = |e: std::io::Error| {
            Error::unavailable(format!("cannot write to `{}`", data.display())).with_source(e)
        };
        let mut file = std::fs::File::create_new(&probe).map_err(failed)?;
        let written = file.write_all(b"docmill").and_then(|()| file.sync_all());
        std::fs::remove_file(&probe).map_err(failed)?;
        written.map_err(failed)?;
        Ok(format!("`{}` can be written to", data.display()))
    })
    .await
}

async fn disk(inner: &Inner) -> Result<String> {
    inner.disk.check(&inner.deps).await?;
    Ok(match inner.disk.free_bytes(&inner.deps).await? {
        Some(free) => format!("{} are free", size(free)),
        None => "the blob store has no limit of its own".into(),
    })
}

async fn store(inner: &Inner, tenant: TenantId) -> Result<String> {
    let status = inner.deps.store.status(tenant).await?;
    let ledger = inner.deps.store.ledger(tenant, None).await?;
    if !ledger.balanced() {
        return Err(Error::bug(format!(
            "the ledger does not balance: {} items were expected, {} are accounted for",
            ledger.expected,
            ledger.accounted()
        ))
        .with_hint("`docmill audit` shows where"));
    }
    Ok(format!("{} documents, {} dead letters, the ledger balances", status.documents, status.tasks.dead))
}

async fn blobs(inner: &Inner) -> Result<String> {
    let audit = verify::audit(&inner.deps).await?;
    if audit.missing > 0 {
        return Err(Error::not_found(format!(
            "{} of {} blobs that rows name are missing",
            audit.missing, audit.referenced
        )));
    }
    Ok(format!("{} blobs are all there, {} more await pruning", audit.referenced, audit.orphaned))
}

async fn index(inner: &Inner) -> Result<String> {
    let errors = [inner.follower_error(), inner.catalogue_error(), inner.embedding_error()];
    if let Some(note) = errors.into_iter().flatten().next() {
        return Err(note.into());
    }
    let watermark = inner.deps.index.watermark().await?;
    let last = inner.deps.store.last_change().await?;
    let lag = last - watermark;
    if lag > MAX_LAG {
        return Err(Error::unavailable(format!("the index is {lag} changes behind"))
            .with_hint("start a worker (`docmill serve` or `docmill work`) and let it catch up"));
    }
    Ok(format!("holds change {watermark} of {last}"))
}

/// Which language model is asked. It is not asked now: that would cost something.
fn model(inner: &Inner) -> DoctorCheck {
    let (detail, hint) = match &inner.deps.llm {
        Some(llm) => (llm.identity().to_owned(), None),
        None => (
            "off: no language model is configured".to_owned(),
            Some("set `llm.url` and `llm.model`".to_owned()),
        ),
    };
    DoctorCheck { name: "llm".into(), ok: true, detail, hint }
}

/// What there is to recognise text with. docmill works without, so that what is missing is told and is no fault;
/// what is there and does not start is one.
pub async fn recognition(ocr: &dyn Ocr) -> Vec<DoctorCheck> {
    if let Err(error) = ocr.available() {
        return vec![off("ocr", &error)];
    }
    match ocr.engines().await {
        Ok(engines) => engines.into_iter().map(|engine| of_engine("ocr", engine)).collect(),
        Err(error) => {
            vec![check("ocr", Err(error), "scans and pictures are stored without text until it starts")]
        }
    }
}

/// What there is to tell the meaning of texts with, in the same way.
pub async fn meaning(embedder: &dyn Embedder) -> Vec<DoctorCheck> {
    if let Err(error) = embedder.available() {
        return vec![off("embed", &error)];
    }
    match embedder.engines().await {
        Ok(engines) => engines.into_iter().map(|engine| of_engine("embed", engine)).collect(),
        Err(error) => vec![check("embed", Err(error), "nothing compares meanings until it starts")],
    }
}

fn off(name: &str, error: &Error) -> DoctorCheck {
    let hint = error.hint().map(Into::into);
    DoctorCheck { name: name.into(), ok: true, detail: format!("off: {error}"), hint }
}

fn of_engine(role: &str, engine: Layer) -> DoctorCheck {
    let detail = if engine.active { engine.detail } else { format!("off: {}", engine.detail) };
    DoctorCheck { name: format!("{role}_{}", engine.name), ok: true, detail, hint: None }
}

/// The check of one layer of a reader.
pub fn of_layer(layer: Layer, required: bool) -> DoctorCheck {
    if layer.name == PDFIUM {
        // No fence: docmill works without it.
        let detail = if layer.active { layer.detail } else { format!("off: {}", layer.detail) };
        return DoctorCheck { name: format!("pdf_{PDFIUM}"), ok: true, detail, hint: None };
    }
    DoctorCheck {
        name: format!("sandbox_{}", layer.name),
        ok: layer.active || !required,
        hint: (!layer.active).then(|| {
            "readers run with fewer fences; a newer kernel or a container profile that allows it helps"
                .to_owned()
        }),
        detail: layer.detail,
    }
}

/// One check for each layer. A missing one is a fault only where the settings insist on it.
async fn sandbox(inner: &Inner) -> Vec<DoctorCheck> {
    let required = inner.deps.settings.sandbox.mode == SandboxMode::Required;
    match inner.deps.reader.layers().await {
        Ok(layers) => layers.into_iter().map(|layer| of_layer(layer, required)).collect(),
        Err(error) => vec![check("sandbox", Err(error), "no document can be read until a child starts")],
    }
}
