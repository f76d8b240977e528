//! Which part names which others.

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};

/// More relations of one part than this are passed over.
const MAX_RELATIONS: usize = 100_000;

/// One part's word about another.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    id: String,
    /// The last part of its type: `image`, `footnotes`, `oleObject`.
    pub(crate) kind: String,
    /// The name of the other part, from the root of the package.
    pub(crate) target: String,
}

/// The relations of one part to parts inside the package.
#[derive(Default, Debug)]
pub(crate) struct Relations(Vec<Relation>);

impl Relations {
    /// Of `part`; none if nothing is written down. Targets outside of the package are left out.
    pub(crate) fn of(package: &mut Package<'_>, part: &str, limits: &ReadLimits) -> Result<Self> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() {
            format!("_rels/{file}.rels")
        } else {
            format!("{folder}/_rels/{file}.rels")
        };
        let Some(content) = package.part(&name)? else { return Ok(Self::default()) };
        let mut xml = Xml::new(content, &name, limits);
        let mut out = Vec::new();
        loop {
            match xml.next() {
                Node::Open(tag) if tag.name() == "Relationship" => {
                    let external = tag.get("TargetMode").is_some_and(|mode| mode == "External");
                    if let (Some(id), Some(kind), Some(target), false) =
                        (tag.get("Id"), tag.get("Type"), tag.get("Target"), external)
                        && out.len() < MAX_RELATIONS
                    {
                        let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                        out.push(Relation { id, kind, target: resolve(folder, &target) });
                    }
                }
                Node::End => break,
                _ => {}
            }
        }
        xml.finish()?;
        Ok(Self(out))
    }

    /// The part that `id` stands for.
    pub(crate) fn target(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|r| r.id == id).map(|r| r.target.as_str())
    }

    /// The parts of a kind, in the order they are written down.
    pub(crate) fn of_kind<'r>(&'r self, kind: &'r str) -> impl Iterator<Item = &'r str> {
        self.0.iter().filter(move |r| r.kind == kind).map(|r| r.target.as_str())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Relation> {
        self.0.iter()
    }
}

/// A target as the name of a part.
pub(crate) fn resolve(folder: &str, target: &str) -> String {
    let (mut path, target): (Vec<&str>, &str) = match target.strip_prefix('/') {
        Some(absolute) => (Vec::new(), absolute),
        None => (folder.split('/').filter(|p| !p.is_empty()).collect(), target),
    };
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.join("/")
}

/// The part that the document begins with: what the package says, else the usual name.
pub(crate) fn main_part(package: &mut Package<'_>, usual: &str, limits: &ReadLimits) -> Result<String> {
    // A damaged list of relations costs nothing where the part has its usual name.
    let stated = match Relations::of(package, "", limits) {
        Ok(relations) => relations.of_kind("officeDocument").next().map(str::to_owned),
        Err(e) if e.kind() == docmill_core::ErrorKind::Corrupt => None,
        Err(e) => return Err(e),
    };
    if let Some(stated) = stated.filter(|stated| package.has(stated)) {
        return Ok(stated);
    }
    if package.has(usual) {
        return Ok(usual.to_owned());
    }
    Err(Error::corrupt(format!("the document's main part is missing: there is no `{usual}`")))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn targets_are_resolved_and_never_leave_the_package() {
        let cases = [
            ("word", "footnotes.xml", "word/footnotes.xml"),
            ("word", "../docProps/app.xml", "docProps/app.xml"),
            ("xl/worksheets", "/xl/comments1.xml", "xl/comments1.xml"),
            ("word", "../../../../etc/passwd", "etc/passwd"),
            ("", "word/document.xml", "word/document.xml"),
        ];
        for (folder, target, expected) in cases {
            assert_eq!(resolve(folder, target), expected);
        }
    }
}
