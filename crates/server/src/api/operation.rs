//! One route, said once: how it is answered, who may use it, and what the OpenAPI document says of it.

use axum::http::Method;
use axum::routing::MethodRouter;
use docmill_core::access::Role;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::web::Web;

/// Writes the schema of a type, and those it refers to, with a generator.
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// A route and everything there is to know of it.
pub(crate) struct Operation {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Unique, for programs that are made from the document.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) role: Role,
    pub(super) router: MethodRouter<Web>,
    /// Schemas of parts of the path that are not ids.
    pub(super) places: Vec<(&'static str, Describe)>,
    pub(super) query: Option<Describe>,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) body: Option<Content>,
    /// The body may be left out.
    pub(super) body_optional: bool,
    pub(super) answers: Vec<Answer>,
    /// A link that was signed may be used instead of a key.
    pub(super) signed: bool,
}

/// A body.
pub(super) struct Content {
    pub(super) media_type: &'static str,
    pub(super) schema: Describe,
}

/// An answer that is no problem.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) says: &'static str,
    pub(super) content: Option<Content>,
    pub(super) headers: Vec<(&'static str, &'static str)>,
}

impl Operation {
    /// A route that looks, for everybody who may look.
    pub(super) fn get(
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        router: MethodRouter<Web>,
    ) -> Self {
        Self::new(Method::GET, Role::Read, path, id, summary, router)
    }

    /// A route that changes something.
    pub(super) fn change(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        router: MethodRouter<Web>,
    ) -> Self {
        Self::new(method, Role::Write, path, id, summary, router)
    }

    fn new(
        method: Method,
        role: Role,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        router: MethodRouter<Web>,
    ) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            role,
            router,
            places: Vec::new(),
            query: None,
            headers: Vec::new(),
            body: None,
            body_optional: false,
            answers: Vec::new(),
            signed: false,
        }
    }

    /// For everybody who may look: nothing is changed.
    pub(super) fn for_readers(mut self) -> Self {
        self.role = Role::Read;
        self
    }

    /// Only for those who may give keys.
    pub(super) fn for_admins(mut self) -> Self {
        self.role = Role::Admin;
        self
    }

    /// A part of the path is no id but one of these.
    pub(super) fn place<T: JsonSchema>(mut self, name: &'static str) -> Self {
        self.places.push((name, |generator| generator.subschema_for::<T>()));
        self
    }

    /// What may be asked.
    pub(super) fn asked<T: JsonSchema>(mut self) -> Self {
        self.query = Some(|generator| T::json_schema(generator));
        self
    }

    /// A header that may be sent.
    pub(super) fn header(mut self, name: &'static str, says: &'static str) -> Self {
        self.headers.push((name, says));
        self
    }

    /// A JSON body.
    pub(super) fn takes<T: JsonSchema>(self) -> Self {
        self.takes_as::<T>("application/json")
    }

    /// A body of another type.
    pub(super) fn takes_as<T: JsonSchema>(mut self, media_type: &'static str) -> Self {
        self.body = Some(Content { media_type, schema: |generator| generator.subschema_for::<T>() });
        self
    }

    /// The body may be left out.
    pub(super) fn or_nothing(mut self) -> Self {
        self.body_optional = true;
        self
    }

    /// A JSON answer.
    pub(super) fn answers<T: JsonSchema>(self, status: u16, says: &'static str) -> Self {
        self.answers_as::<T>(status, says, "application/json")
    }

    /// An answer of another type.
    pub(super) fn answers_as<T: JsonSchema>(
        mut self,
        status: u16,
        says: &'static str,
        media_type: &'static str,
    ) -> Self {
        let content = Content { media_type, schema: |generator| generator.subschema_for::<T>() };
        self.answers.push(Answer { status, says, content: Some(content), headers: Vec::new() });
        self
    }

    /// An answer without a body.
    pub(super) fn answers_nothing(mut self, status: u16, says: &'static str) -> Self {
        self.answers.push(Answer { status, says, content: None, headers: Vec::new() });
        self
    }

    /// A header of the answer that was named last.
    pub(super) fn with(mut self, name: &'static str, says: &'static str) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.headers.push((name, says));
        }
        self
    }

    /// A link that was signed may be used instead of a key.
    pub(super) fn or_signed(mut self) -> Self {
        self.signed = true;
        self
    }
}
