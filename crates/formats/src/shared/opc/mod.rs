//! What the formats of Office since 2007 have in common: parts in a package that name each other by relations,
//! properties, charts, drawings, and files that are embedded.

pub(crate) mod chart;
pub(crate) mod drawing;
pub(crate) mod embedded;
pub(crate) mod properties;
pub(crate) mod relations;

pub(crate) use properties::tell as tell_properties;
pub(crate) use relations::{Relations, main_part};
