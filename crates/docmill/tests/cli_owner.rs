//! One process owns a data directory; the others work through it.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use support::http::get;
use support::{Mill, signal};

#[test]
fn commands_beside_a_server_work_through_it_and_a_second_server_is_refused() {
    let mill = Mill::new();
    for n in 0..200 {
        mill.write(format!("{n}.txt"), format!("file {n} and a heron\n"));
    }
    mill.write("large.txt", "a large marabou\n".repeat(700_000));
    let server = mill.serve();
    let pid = server.child.id().to_string();
    for command in ["serve", "work"] {
        mill.run(&[command]).expect(1).says(&["is in use by `docmill serve`", &pid, "kill", "--data DIR"]);
    }
    let answer = mill.run(&["ingest", "in", "--json"]).expect(0).json();
    assert_eq!(answer["completed"].as_u64(), Some(201));
    let found = mill.run(&["search", "marabou", "--json"]).expect(0).json();
    let id = found["hits"][0]["document_id"].as_str().unwrap();
    mill.run(&["get", id, "-o", "large.out"]).expect(0);
    assert_eq!(std::fs::metadata(mill.path("large.out")).unwrap().len(), 16 * 700_000);
    mill.run(&["audit"]).expect(0);
    assert_eq!(server.stop(), Some(0));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn commands_that_begin_together_keep_their_owner_until_all_have_ended() {
    let mill = Mill::new();
    for folder in 0..6 {
        for file in 0..30 {
            mill.write(
                format!("{folder}/{file}.txt"),
                format!("a heron, {folder} and {file}\n").repeat(2_000),
            );
        }
    }
    // Whichever of them owns the directory would be done long before the others if it did not wait.
    let begun: Vec<_> = (0..6)
        .map(|folder| {
            let path = format!("in/{folder}");
            let mut command = mill.command(&["ingest", "--no-wait", "--batch", path.as_str(), path.as_str()]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for command in begun {
        let ended = command.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!((audit["expected"].as_u64(), audit["open"].as_u64()), (Some(180), Some(0)));
}

/// Everything below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        }
        found.push(path);
    }
    found
}

#[test]
fn what_docmill_makes_is_for_its_user_alone_also_where_others_may_enter() {
    let mill = Mill::new();
    mill.write("a.txt", "a heron\n");
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::set_permissions(mill.data(), PermissionsExt::from_mode(0o755)).unwrap();
    mill.run(&["ingest", "in"]).expect(0);
    mill.run(&["backup", "copy"]).expect(0);
    let made = below(&mill.data()).into_iter().chain(below(&mill.path("copy")));
    for path in made.chain([mill.path("copy")]) {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_large_file_that_the_owner_refuses_fails_alone() {
    let mill = Mill::new();
    mill.write("good.txt", "x\n");
    mill.write("large.bin", vec![7; 20 << 20]);
    std::fs::create_dir(mill.data()).unwrap();
    let settings = mill.data().join("docmill.toml");
    std::fs::write(&settings, "[limits]\nmax_document_bytes = \"10MiB\"\n").unwrap();
    let server = mill.serve();
    // Once where the guest knows the limit itself, and once where only the owner does.
    for batch in ["known", "unknown"] {
        let run = mill.run(&["ingest", "in", "--batch", batch, "--json"]).expect(7);
        let answer = run.says(&["large.bin", "10485760", "limits.max_document_bytes"]).json();
        assert_eq!((answer["completed"].as_u64(), answer["failed"].as_u64()), (Some(1), Some(1)));
        mill.run(&["audit", "--batch", batch]).expect(0);
        if batch == "known" {
            std::fs::remove_file(&settings).unwrap();
        }
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn the_page_answers_loopback_names_only_and_escapes_nothing_into_markup() {
    let mill = Mill::new();
    let server = mill.serve();
    let page = get(&server.address, "/", &server.address);
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("default-src 'none'") && page.contains("nosniff")
    );
    assert!(!page.contains("http://") && !page.contains("https://"), "the page names another host");
    assert!(get(&server.address, "/", "evil.example").starts_with("HTTP/1.1 421"));
    assert!(get(&server.address, "/healthz", "localhost").ends_with("ok\n"));
    assert!(get(&server.address, "/readyz", "localhost").ends_with("ready\n"));
    assert!(get(&server.address, "/v1/status", "localhost").contains("\"docs_per_s\""));
    assert!(get(&server.address, "/v1/events?after=x", "localhost").contains("application/problem+json"));
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let mill = Mill::new();
    mill.run(&["serve", "--listen", "0.0.0.0:0"]).expect(1).says(&["0.0.0.0", "key", "loopback"]);
}

#[test]
fn an_interrupted_ingest_is_resumed_by_the_same_batch() {
    let mill = Mill::new();
    for n in 0..1000 {
        mill.write(format!("{n}.txt"), format!("file {n}\n"));
    }
    let mut command = mill.command(&["ingest", "in", "--batch", "b"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Signals are listened for before the socket is there.
    while !mill.data().join("docmill.sock").try_exists().unwrap() {
        std::thread::yield_now();
    }
    signal(&child, rustix::process::Signal::INT);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted") && said.contains("hint"), "{said}");
    let answer = mill.run(&["ingest", "in", "--batch", "b", "--json"]).expect(0).json();
    assert_eq!((answer["received"].as_u64(), answer["completed"].as_u64()), (Some(1000), Some(1000)));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn an_ingest_that_waits_for_standard_input_ends_when_it_is_told_to() {
    for told in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let mill = Mill::new();
        let mut command = mill.command(&["ingest", "-", "--name", "a.txt", "--batch", "b"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Held open, and nothing is said.
        let input = child.stdin.take().unwrap();
        while !mill.data().join("docmill.sock").try_exists().unwrap() {
            std::thread::yield_now();
        }
        signal(&child, told);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
        drop(input);
        let run = mill.run_with_input(&["ingest", "-", "--name", "a.txt", "--batch", "b", "--json"], b"x\n");
        assert_eq!(run.expect(0).json()["received"].as_u64(), Some(1));
    }
}

#[test]
fn a_killed_owner_leaves_nothing_in_the_way() {
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    let mut server = mill.serve();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    mill.run(&["ingest", "in"]).expect(0);
}
