//! Which documents a query insists on.

use docmill_core::{Error, Result};

/// Values that must be equal, each as often as it was asked for.
#[derive(Default)]
pub(super) struct Filter<'q> {
    pub(super) names: Vec<&'q str>,
    pub(super) media_types: Vec<&'q str>,
}

impl<'q> Filter<'q> {
    pub(super) fn of(filters: &'q [(String, String)]) -> Result<Self> {
        let mut filter = Self::default();
        for (key, value) in filters {
            match key.as_str() {
                "type" => filter.media_types.push(value),
                "name" => filter.names.push(value),
                other => {
                    return Err(Error::invalid_request(format!("there is no filter `{other}`"))
                        .with_hint("filters are `type` and `name`"));
                }
            }
        }
        Ok(filter)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.media_types.is_empty()
    }

    /// Whether a document is one of those.
    pub(super) fn fits(&self, name: &str, media_type: Option<&str>) -> bool {
        self.names.iter().all(|wanted| *wanted == name)
            && self.media_types.iter().all(|wanted| Some(*wanted) == media_type)
    }
}
