//! Test documents, made and taken in as a batch.

use std::sync::Arc;

use docmill_core::access::{Actor, NewAudit};
use docmill_core::batch::{BatchRun, NewBatch, Walk};
use docmill_core::call::Call;
use docmill_core::generate::{Order, SampleKind};
use docmill_core::id::{BatchId, ContentHash, TenantId};
use docmill_core::ingestion::Origin;
use docmill_core::ports::store::Accepted;
use docmill_core::{Error, Result};
use futures::StreamExt as _;
use serde_json::json;

use super::Service;
use crate::blocking::blocking;
use crate::stages::receive::together::{Common, Together};

/// Documents that are made at once.
const AT_ONCE: usize = 2;

/// What a caller wants.
#[derive(Clone, PartialEq, Debug)]
pub struct Wanted {
    /// How many.
    pub count: u32,
    /// Drawn if the caller has none.
    pub seed: Option<u64>,
    /// Empty: a mix.
    pub kinds: Vec<SampleKind>,
    /// The part of scans.
    pub scans: f64,
    /// Lower first.
    pub priority: u8,
    /// The key under which the same request is done once.
    pub idempotency_key: Option<String>,
}

/// What was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The batch that the documents came in with.
    pub batch_id: BatchId,
    /// What gives the same documents again.
    pub seed: u64,
    /// How many.
    pub count: u32,
    /// They had been made before, by the same request.
    pub repeated: bool,
}

impl Service {
    /// Makes documents and takes all of them in, or none. When it returns, they are durable and their batch is sealed.
    pub async fn generate(&self, tenant: TenantId, actor: &Actor, wanted: Wanted) -> Result<Generated> {
        let deps = self.deps();
        // A request that is repeated must mean the same documents and the same batch, so both follow from its key.
        let key = wanted.idempotency_key.as_ref().map(|key| {
            ContentHash::of(
                format!("{key}\n{}\n{:?}\n{:?}\n{}", wanted.count, wanted.seed, wanted.kinds, wanted.scans)
                    .as_bytes(),
            )
        });
        let drawn = match key {
            Some(hash) => u64::from(u32::from_le_bytes([hash.0[0], hash.0[1], hash.0[2], hash.0[3]])),
            None => (deps.entropy.fraction() * f64::from(u32::MAX)) as u64,
        };
        let order = Order {
            count: wanted.count,
            seed: wanted.seed.unwrap_or(drawn),
            kinds: wanted.kinds,
            scans: wanted.scans,
        };
        order.check(Order::MAX_AT_ONCE)?;
        let batch = NewBatch {
            tenant_id: tenant,
            batch_id: BatchId(deps.ids.next()),
            name: key.map(|hash| format!("generated {}", hash.short())),
            kind: "files".into(),
            priority: wanted.priority,
        };
        let run: BatchRun =
            serde_json::from_value(self.call_as(tenant, actor, Call::OpenBatch { batch }).await?)
                .map_err(|e| Error::bug("an answer cannot be read back").with_source(e))?;
        let common = Common {
            batch_id: Some(run.batch_id),
            origin: Origin::Uploader(actor.name.clone()),
            source_metadata: json!({ "generated": { "seed": order.seed, "count": order.count } }),
            priority: wanted.priority,
            idempotency_key: wanted.idempotency_key,
        };
        let outcome = self.take_in_made(tenant, actor, &order, common).await;
        // Also if nothing came in: a batch that nobody seals would stay open for ever.
        let walk = match &outcome {
            Ok(accepted) => {
                let known =
                    accepted.received.iter().filter(|item| item.known || accepted.repeated).count() as u64;
                Walk { walked: u64::from(order.count), known, baseline: run.baseline }
            }
            Err(_) => Walk { walked: 0, known: 0, baseline: run.baseline },
        };
        let sealed = self.call_as(tenant, actor, Call::SealBatch { batch_id: run.batch_id, walk }).await;
        let accepted = outcome?;
        sealed?;
        let Order { seed, count, .. } = order;
        Ok(Generated { batch_id: run.batch_id, seed, count, repeated: accepted.repeated })
    }

    async fn take_in_made(
        &self,
        tenant: TenantId,
        actor: &Actor,
        order: &Order,
        common: Common,
    ) -> Result<Accepted> {
        let mut together = Together::begin(Arc::clone(&self.inner), tenant).await?;
        let made = futures::stream::iter(0..order.count)
            .map(|number| {
                let (generator, order) = (Arc::clone(&self.deps().generator), order.clone());
                blocking(move || generator.make(&order, number))
            })
            .buffered(AT_ONCE);
        let mut made = std::pin::pin!(made);
        while let Some(sample) = made.next().await {
            let sample = sample?;
            together.take(&sample.name, futures::stream::iter([Ok(sample.bytes)])).await?;
        }
        let audit = NewAudit {
            actor: actor.clone(),
            action: "document.generate".into(),
            subject: common.batch_id.map(|id| id.to_string()),
            detail: json!({ "items": order.count, "seed": order.seed }),
        };
        together.commit(common, Some(audit)).await
    }
}
