//! How many may wait for pages at once. Whoever comes after them is told to come back, which is better than to wait
//! until the connection breaks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docmill_core::id::TenantId;
use docmill_core::{Error, Result};

/// Of one tenant: a screen full of thumbnails, and a few readers.
const MOST_OF_A_TENANT: usize = 64;
/// Of all tenants together: each may hold an original open.
const MOST: usize = 256;

/// Those who wait.
#[derive(Clone, Default)]
pub(super) struct Crowd(Arc<Mutex<HashMap<TenantId, usize>>>);

impl Crowd {
    /// A place among those who wait, until it is dropped.
    pub(super) fn enter(&self, tenant: TenantId) -> Result<Place> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = waiting.values().sum();
        let own = waiting.entry(tenant).or_default();
        if *own >= MOST_OF_A_TENANT || all >= MOST {
            let message =
                format!("{own} pages of this tenant and {all} of all are being drawn, as many as may be");
            return Err(Error::unavailable(message).with_retry_after(Duration::from_secs(1)));
        }
        *own += 1;
        Ok(Place { crowd: self.clone(), tenant })
    }
}

/// One of those who wait.
pub(super) struct Place {
    crowd: Crowd,
    tenant: TenantId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = waiting.get_mut(&self.tenant) {
            *own -= 1;
            if *own == 0 {
                waiting.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn tenant_that_asks_for_too_much_is_turned_away_and_others_are_not() {
        let crowd = Crowd::default();
        let mut places: Vec<Place> = (0..MOST_OF_A_TENANT).map(|_| crowd.enter(tenant(1)).unwrap()).collect();
        let refused = crowd.enter(tenant(1)).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(refused.retry_after().is_some());
        places.push(crowd.enter(tenant(2)).unwrap());
        places.clear();
        assert!(crowd.0.lock().unwrap().is_empty());
        crowd.enter(tenant(1)).unwrap();
    }

    #[test]
    fn all_together_are_bounded() {
        let crowd = Crowd::default();
        let places: Vec<Place> = (0..).map_while(|n| crowd.enter(tenant(n / 60)).ok()).collect();
        assert_eq!(places.len(), MOST);
    }
}
