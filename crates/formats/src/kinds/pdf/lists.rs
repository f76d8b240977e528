//! Lists of objects any of which may be missing: the engine's own iterators end at the first that cannot be had.

use hayro_syntax::object::{Array, Dict, Object, Stream};

/// Every item of a list; `None` for one that cannot be had.
pub(super) fn objects<'a>(list: &Array<'a>) -> impl Iterator<Item = Option<Object<'a>>> + use<'a> {
    let mut items = list.flex_iter();
    list.raw_iter().map(move |_| items.next::<Object<'a>>())
}

/// The dictionaries of a list.
pub(super) fn dicts<'a>(list: &Array<'a>) -> impl Iterator<Item = Dict<'a>> + use<'a> {
    objects(list).filter_map(|item| item?.into_dict())
}

/// The streams of a list.
pub(super) fn streams<'a>(list: &Array<'a>) -> impl Iterator<Item = Stream<'a>> + use<'a> {
    objects(list).filter_map(|item| item?.into_stream())
}
