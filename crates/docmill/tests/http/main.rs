//! The HTTP interface of the real binary.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]

mod access;
mod documents;
mod events;
mod generate;
mod hostile;
mod isolation;
mod pages;
mod reference;
mod reviews;
mod steering;
#[path = "../support/mod.rs"]
mod support;
mod tags;
mod upload;

use serde_json::Value;
use support::http::{Client, Part};
use support::{Mill, Server};

/// A server with an empty data directory, and a client of it.
struct House {
    mill: Mill,
    server: Server,
    client: Client,
}

impl House {
    fn open() -> Self {
        Self::of(Mill::new())
    }

    fn of(mill: Mill) -> Self {
        let server = mill.serve();
        let client = Client::new(&server.address);
        Self { mill, server, client }
    }

    /// Brings one file in and waits until it is done.
    #[track_caller]
    fn add(&self, name: &str, content: &[u8]) -> Value {
        self.client.upload("/v1/documents?mode=sync", &[], &[Part::file(name, content)]).expect(200).json()
    }
}

/// A field that must be text.
#[track_caller]
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no `{field}` in {value}"))
}
