//! This crate as the pipeline uses it.

use std::collections::BTreeMap;
use std::sync::Arc;

use docmill_core::Result;
use docmill_core::extraction::{Evidence, EvidenceSource, Extraction};
use docmill_core::ports::Extractor;
use docmill_core::ports::extractor::{self, Asking, Interviewed, Material, Sketch};
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::record::{FieldKind, SchemaField};
use docmill_core::review::Correction;
use docmill_core::words::PageWords;

use crate::correct::correct;
use crate::gate;
use crate::layout::folded;
use crate::llm::{Interview, Looked};
use crate::schema::{Normalise, Schema, Shape};
use crate::{Sources, assemble, learn, twice};

/// Raise it when the same documents give other records than before.
const IDENTITY: &str = "local-3";

/// So much of a text is looked at to find out what it is.
const BEGINNING: usize = 4_000;

/// What agreements about secrets are called, folded.
const SECRETS: &[&str] = &["non disclosure", "nondisclosure", "confidentiality", "nda", "geheimhaltung"];

/// Extracts without a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Extractor for Local {
    fn identity(&self) -> &'static str {
        IDENTITY
    }

    fn built_in(&self) -> Vec<(&'static str, &'static str)> {
        Schema::texts().collect()
    }

    fn sketch(&self, schema: &str) -> Result<Sketch> {
        let schema = Schema::parse(schema)?;
        let fields = schema.fields.iter().map(|rule| SchemaField {
            name: rule.name.clone(),
            kind: match rule.shape {
                Shape::Text => FieldKind::Text,
                Shape::List => FieldKind::List,
                Shape::Rows(_) => FieldKind::Rows,
            },
            critical: rule.critical,
            normalise: rule.normalise.map(|normalise| Normalise::name(normalise).to_owned()),
        });
        let version = u32::try_from(schema.version).unwrap_or(u32::MAX);
        Ok(Sketch { version, fields: fields.collect(), title: schema.name })
    }

    fn suits(&self, schema: &str, text: &str) -> bool {
        let is_about_secrets =
            Schema::parse(schema).is_ok_and(|schema| schema.finder.as_deref() == Some("nda"));
        if !is_about_secrets {
            return true;
        }
        let beginning = &text[..text.floor_char_boundary(BEGINNING)];
        let words = beginning.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let padded = format!(" {} ", words.map(folded).collect::<Vec<_>>().join(" "));
        SECRETS.iter().any(|name| padded.contains(&format!(" {name}")))
    }

    fn extract(&self, schema: &str, material: &Material) -> Result<Extraction> {
        let schema = Schema::parse(schema)?;
        let found = assemble::extract(&schema, &view(material), Sources::Auto);
        Ok(learn::apply(&rules(&schema, &material.corrections), &schema, &material.pages, found))
    }

    fn doubts(&self, schema: &str, found: &Extraction) -> Result<Vec<String>> {
        Ok(gate::doubts(&Schema::parse(schema)?, found))
    }

    fn senders(&self, pages: &[PageWords]) -> Vec<String> {
        learn::marks(pages)
    }

    fn better(&self, schema: &str, first: &Extraction, second: &Extraction) -> Result<Extraction> {
        Ok(twice::better(&Schema::parse(schema)?, first, second))
    }

    fn interview(
        &self,
        schema: &str,
        material: Arc<Material>,
        found: Extraction,
        asking: Asking,
    ) -> Result<Option<Box<dyn extractor::Interview>>> {
        let interview = Interview::new(&Schema::parse(schema)?, material, found, asking);
        let any = !interview.planned().is_empty();
        Ok(any.then(|| Box::new(interview) as Box<dyn extractor::Interview>))
    }

    fn correct(
        &self,
        schema: &str,
        found: &Extraction,
        changes: &BTreeMap<String, Option<String>>,
        pages: &[PageWords],
    ) -> Result<Extraction> {
        correct(&Schema::parse(schema)?, found, changes, pages)
    }
}

fn view(material: &Material) -> assemble::Material<'_> {
    assemble::Material {
        pages: &material.pages,
        texts: material.texts.iter().map(|(number, text)| (*number, text.as_str())).collect(),
        data: material.data.iter().map(AsRef::as_ref).collect(),
        metadata: &material.metadata,
        media_type: &material.media_type,
    }
}

impl Looked for Arc<Material> {
    fn look(&self) -> assemble::Material<'_> {
        view(self)
    }
}

impl extractor::Interview for Interview<Arc<Material>> {
    fn planned(&self) -> Vec<Question> {
        self.planned()
    }

    fn once_more(&self) -> Vec<Question> {
        self.once_more()
    }

    fn question(&mut self) -> Option<Question> {
        self.question()
    }

    fn is_of_use(&self, answer: &Answer) -> bool {
        self.is_of_use(answer)
    }

    fn take(&mut self, answer: Result<Answer>) {
        self.take(answer);
    }

    fn finish(self: Box<Self>) -> Interviewed {
        (*self).finish()
    }
}

/// What people's corrections, the newest first, teach; later rules win.
fn rules(schema: &Schema, corrections: &[Correction]) -> Vec<learn::Rule> {
    let learnt = corrections.iter().rev().filter_map(|correction| {
        let change = &correction.change;
        let place = change.page.zip(change.frame).map(|(page, frame)| Evidence {
            source: EvidenceSource::Page,
            page: Some(page),
            span: None,
            frame: Some(frame),
            path: None,
        });
        learn::learn(&learn::Correction {
            schema,
            field: &correction.field,
            value: change.after.as_ref()?.as_str()?,
            pages: &correction.pages,
            place: place.as_ref(),
        })
    });
    learnt.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_agreements_about_secrets_suit_their_schema() {
        let text = |name: &str| Schema::texts().find(|(known, _)| *known == name).unwrap().1;
        assert!(Local.suits(text("nda"), "MUTUAL NON-DISCLOSURE AGREEMENT between A and B"));
        assert!(!Local.suits(text("nda"), "Lease of a flat at the agenda of the panda"));
        assert!(Local.suits(text("invoice"), "anything"));
    }

    #[test]
    fn every_built_in_schema_is_sketched() {
        for (name, text) in Local.built_in() {
            let sketch = Local.sketch(text).unwrap();
            assert_eq!((sketch.title.as_str(), sketch.version), (name, 1));
            assert!(sketch.fields.iter().any(|field| field.critical), "{name}");
        }
    }
}
