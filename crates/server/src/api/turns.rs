//! Who may bring documents at the moment. A sender may be slow, and holds its turn all the while, so no tenant gets all
//! turns: what others bring is not refused because of it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docmill_core::id::TenantId;
use docmill_core::{Error, Result};

/// One part of so many is kept for other tenants than the one that has most.
const KEPT: usize = 8;

/// Requests that bring documents, at once.
pub(crate) struct Turns {
    most: usize,
    held: Mutex<HashMap<TenantId, usize>>,
}

/// A turn; dropping it gives it back.
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    tenant: TenantId,
}

impl Turns {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, held: Mutex::default() }
    }

    /// A turn for this tenant, or when to come again.
    pub(super) fn take(&self, tenant: TenantId) -> Result<Turn<'_>> {
        let mut held = self.held();
        let all: usize = held.values().sum();
        let own = held.get(&tenant).copied().unwrap_or(0);
        if all >= self.most || own >= self.most - self.most / KEPT {
            return Err(Error::unavailable("too many requests bring documents at once")
                .with_hint("try again in a moment; `http.max_uploads` is the limit")
                .with_retry_after(Duration::from_secs(1)));
        }
        held.insert(tenant, own + 1);
        Ok(Turn { turns: self, tenant })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<TenantId, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut held = self.turns.held();
        match held.get_mut(&self.tenant) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(held.remove(&self.tenant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_tenant_leaves_turns_to_others_and_turns_come_back() {
        let turns = Turns::new(16);
        let [one, other, third] = [1, 2, 3].map(|n| TenantId(Uuid::from_u128(n)));
        let mine: Vec<_> = (0..14).map(|_| turns.take(one).unwrap()).collect();
        assert!(turns.take(one).err().unwrap().retry_after().is_some());
        let theirs = [turns.take(other).unwrap(), turns.take(third).unwrap()];
        assert!(turns.take(other).is_err(), "there are no more");
        drop(mine);
        assert!(turns.take(one).is_ok());
        drop(theirs);
        assert!(turns.held().is_empty());
    }

    #[test]
    fn a_single_turn_is_for_whoever_comes_first() {
        let turns = Turns::new(1);
        let turn = turns.take(TenantId(Uuid::nil())).unwrap();
        assert!(turns.take(TenantId(Uuid::from_u128(1))).is_err());
        drop(turn);
        assert!(turns.take(TenantId(Uuid::from_u128(1))).is_ok());
    }
}
