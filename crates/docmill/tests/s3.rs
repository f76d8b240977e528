//! The real binary with its blobs on S3.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use std::process::ExitCode;

use docmill_core::id::ContentHash;
use docmill_core::limits::read_capped;
use docmill_testkit::archive::archive;
use docmill_testkit::conformance::{self, Property};
use support::{Mill, Run, finish};

/// Where the server is.
const VARIABLE: &str = "DOCMILL_TEST_S3";

fn main() -> ExitCode {
    conformance::run(vec![
        Property::asked_by(VARIABLE, "s3::everything_works_without_a_local_blob", everything).into_trial(),
        Property::asked_by(
            VARIABLE,
            "s3::everything_moves_there_and_back_without_a_complaint",
            there_and_back,
        )
        .into_trial(),
        Property::asked_by(VARIABLE, "s3::what_is_set_up_wrong_is_told_with_a_way_out", set_up_wrong)
            .into_trial(),
    ])
}

/// docmill on a folder of its own in the bucket.
struct OnS3 {
    mill: Mill,
    endpoint: String,
}

impl OnS3 {
    fn new(endpoint: Option<&str>, url: &str) -> Self {
        let (mill, endpoint) = (Mill::new(), endpoint.unwrap().to_owned());
        std::fs::create_dir(mill.data()).unwrap();
        let settings = format!("[blobs]\nurl = \"{url}\"\nendpoint = \"{endpoint}\"\nretry_for = \"5s\"\n");
        std::fs::write(mill.data().join("docmill.toml"), settings).unwrap();
        Self { mill, endpoint }
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = self.mill.command(args);
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
        finish(command.envs(given()))
    }
}

/// Keys for a server that was not started by `.ci/servers.sh`.
fn given() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("AWS_"))
        .collect()
}

/// Text that no two lines of are the same.
fn long_text(bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(&format!("{} harbour\n", ContentHash::of(text.len().to_string().as_bytes())));
    }
    text
}

fn everything(endpoint: Option<&str>) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().file_name().unwrap().to_string_lossy().trim_start_matches('.').to_owned();
    let s3 = OnS3::new(endpoint, &format!("s3://docmill-test/end-to-end/{folder}"));
    let mill = &s3.mill;
    mill.write("letter.txt", "a letter about lighthouses\n");
    mill.write("copy.txt", "a letter about lighthouses\n");
    // More than is held in memory, and more than goes in one request.
    mill.write("long.txt", long_text(2 << 20));
    let longer = long_text(7 << 20);
    mill.write("longer.txt", &longer);
    let inner = archive([("deep.txt", b"deep inside the boxes\n".as_slice())]);
    mill.write("box.zip", archive([("inner.zip", inner.as_slice()), ("beside.txt", b"beside the box\n")]));

    let answer = s3.run(&["ingest", "in", "--batch", "pile", "--json"]).expect(0).json();
    assert_eq!((answer["received"].as_u64(), answer["failed"].as_u64()), (Some(5), Some(0)), "{answer}");
    assert!(!mill.data().join("blobs").try_exists().unwrap(), "no blob lies in the data directory");

    let found = s3.run(&["search", "boxes", "--json"]).expect(0).json();
    assert_eq!(found["hits"][0]["name"].as_str(), Some("deep.txt"), "{found}");
    let list = s3.run(&["list", "--json"]).expect(0).json();
    let documents = list["documents"].as_array().unwrap();
    let id = documents.iter().find(|d| d["name"] == "longer.txt").unwrap()["document_id"].as_str().unwrap();
    let original = mill.path("original");
    s3.run(&["get", id, "-o", original.to_str().unwrap()]).expect(0);
    let original = read_capped(std::fs::File::open(original).unwrap(), 8 << 20, "original").unwrap();
    assert!(original == longer.as_bytes(), "the original comes back as it went in");

    let audit = s3.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(audit["balanced"].as_bool(), Some(true), "{audit}");
    assert_eq!((audit["blobs"]["missing"].as_u64(), audit["blobs"]["orphaned"].as_u64()), (Some(0), Some(0)));
    let doctor = s3.run(&["doctor", "--json"]).expect(0);
    assert!(doctor.stdout.contains("the blob store has no limit of its own"), "{}", doctor.stdout);
    s3.run(&["prune"]).expect(0);
    let backup = mill.path("backup");
    s3.run(&["backup", backup.to_str().unwrap()]).expect(0);
    let copied = walk(&backup.join("blobs"));
    assert_eq!(copied as u64, audit["blobs"]["referenced"].as_u64().unwrap(), "a backup holds every blob");
    let again = s3.run(&["ingest", "in", "--batch", "pile", "--json"]).expect(0).json();
    assert_eq!(again["failed"].as_u64(), Some(0));
    let shown = s3.run(&["config", "show"]).expect(0);
    assert!(shown.stdout.contains(&s3.endpoint) && !shown.stdout.contains("SECRET"), "{}", shown.stdout);
}

fn there_and_back(endpoint: Option<&str>) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().file_name().unwrap().to_string_lossy().trim_start_matches('.').to_owned();
    let bucket = format!("s3://docmill-test/moved/{folder}");
    let mill = Mill::new().with_settings(&[
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("DOCMILL_BLOBS_ENDPOINT", endpoint.unwrap()),
    ]);
    for n in 0..40 {
        mill.write(format!("{n}.txt"), format!("letter {n} about lighthouses\n"));
    }
    mill.write("long.txt", long_text(2 << 20));
    mill.run(&["ingest", "in", "--batch", "pile", "-q"]).expect(0);
    let moved = |from: &Mill, to: &[&str]| {
        let run = finish(from.command(&[&["migrate", "--json"], to].concat()).envs(given())).expect(0);
        // That a blob is not there before it is copied is no reason to try again.
        assert!(!run.stderr.contains("tried again"), "{}", run.stderr);
        run.json()
    };
    let there = moved(&mill, &["--to-data", "there", "--to-blobs", &bucket]);
    assert_eq!(there["blobs"]["copied"], 82, "{there}");
    let far = mill.with_data("there").with_settings(&[("DOCMILL_BLOBS_URL", &bucket)]);
    let blobs = format!("file:{}", mill.path("back/blobs").display());
    let back = moved(&far, &["--to-data", "back", "--to-blobs", &blobs]);
    for same in ["state", "rows", "expected", "blobs"] {
        assert_eq!(there[same], back[same], "{same}");
    }
    let audit = mill.with_data("back").run(&["audit", "--json"]).expect(0).json();
    assert_eq!((audit["balanced"].as_bool(), audit["blobs"]["missing"].as_u64()), (Some(true), Some(0)));
}

fn walk(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}

fn set_up_wrong(endpoint: Option<&str>) {
    let wrong = OnS3::new(endpoint, "s3://there-is-no-such-bucket");
    wrong.mill.write("letter.txt", "a letter\n");
    let run = wrong.run(&["ingest", "in"]);
    assert_ne!(run.code, Some(0));
    let run = run.says(&["there-is-no-such-bucket", "`blobs.url`"]);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);

    let nameless = OnS3::new(endpoint, "s3:");
    assert_ne!(nameless.run(&["status"]).says(&["names no bucket", "s3://bucket"]).code, Some(0));

    let keyless = OnS3::new(endpoint, "s3://docmill-test");
    let run = finish(keyless.mill.command(&["status"]).env_remove("AWS_ACCESS_KEY_ID"));
    assert_ne!(run.says(&["no credentials", "AWS_ACCESS_KEY_ID"]).code, Some(0));

    let unreachable = OnS3::new(Some("http://127.0.0.1:1"), "s3://docmill-test");
    unreachable.mill.write("letter.txt", "a letter\n");
    let run = unreachable.run(&["ingest", "in"]).says(&["http://127.0.0.1:1", "`blobs.endpoint`"]);
    assert_ne!(run.code, Some(0));
}
