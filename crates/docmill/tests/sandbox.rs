//! The sandbox, tried from the inside: documents that try to break out or to break their child, through the
//! real pool and the real binary. What they try is built in only with the feature `probe`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docmill_backends::child::{PoolSettings, ReaderPool, Sandbox};
use docmill_core::clock::SystemClock;
use docmill_core::id::TenantId;
use docmill_core::limits::{Limits, MIB};
use docmill_core::ports::Reader;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::{Allowance, Finding, Findings, ReadJob};
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, ErrorKind};
use support::children_of;
use uuid::Uuid;

const TENANT_A: u128 = 1;
const TENANT_B: u128 = 2;

fn settings() -> PoolSettings {
    PoolSettings { max_children: 2, ..PoolSettings::new(env!("CARGO_BIN_EXE_docmill")) }
}

async fn pool_with(settings: PoolSettings) -> Arc<dyn Reader> {
    ReaderPool::start(settings, Arc::new(SystemClock::new()), String::new()).await.unwrap()
}

async fn pool() -> Arc<dyn Reader> {
    pool_with(settings()).await
}

fn job(tenant: u128, content: Content) -> ReadJob {
    ReadJob {
        tenant: TenantId(Uuid::from_u128(tenant)),
        name: "probe.txt".into(),
        content,
        want: Want::TEXT,
        limits: Limits::default().for_reader(),
        allowance: Allowance {
            cpu_without_progress: Duration::from_secs(1),
            wall_without_progress: Duration::from_secs(3),
            memory_bytes: 256 * MIB,
        },
        alone: false,
    }
}

fn text_job(text: &str) -> ReadJob {
    job(TENANT_A, Content::Inline(Bytes::from(text.to_owned())))
}

fn probe_job(what: &str) -> ReadJob {
    text_job(&format!("DOCMILL-PROBE:{what}"))
}

/// The text and the end of one reading.
async fn gather(mut findings: Findings) -> (String, Result<(), Error>) {
    let mut text = String::new();
    while let Some(finding) = findings.recv().await {
        match finding {
            Finding::Found(Found::Page(page)) => text.push_str(&page.text),
            Finding::Found(_) | Finding::Waiting => {}
            Finding::End(result) => {
                assert!(findings.recv().await.is_none(), "something came after the end");
                return (text, result);
            }
        }
    }
    panic!("findings ended without an end");
}

async fn read(pool: &Arc<dyn Reader>, job: ReadJob) -> (String, Result<(), Error>) {
    gather(pool.read(job).await.unwrap()).await
}

/// What a probe says that ran inside a child.
async fn ask(pool: &Arc<dyn Reader>, what: &str) -> String {
    let (text, end) = read(pool, probe_job(what)).await;
    end.unwrap();
    text
}

async fn pid_of_a_child(pool: &Arc<dyn Reader>, tenant: u128) -> u32 {
    let content = Content::Inline(Bytes::from_static(b"DOCMILL-PROBE:pid"));
    let (text, end) = read(pool, job(tenant, content)).await;
    end.unwrap();
    text.trim().rsplit(' ').next().unwrap().parse().unwrap()
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).try_exists().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn layers_all_hold_and_are_reported() {
    let pool = pool().await;
    let layers = pool.layers().await.unwrap();
    for name in ["landlock", "seccomp", "rlimits", "no_new_privs", "parent_death", "memory", "meter"] {
        let layer = layers.iter().find(|l| l.name == name).unwrap_or_else(|| panic!("no layer {name}"));
        assert!(layer.active, "{layer:?}");
    }
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn child_reaches_no_file_no_network_and_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    File::create(&secret).unwrap().write_all(b"secret").unwrap();
    let written = folder.path().join("written.txt");
    let socket = folder.path().join("socket");
    let _unix = UnixListener::bind(&socket).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let parent = std::process::id();

    let pool = pool().await;
    for what in [
        format!("open:{}", secret.display()),
        "open:/etc/passwd".to_owned(),
        "open:/proc/self/mem".to_owned(),
        format!("write:{}", written.display()),
        "write:/tmp/docmill-probe".to_owned(),
        format!("connect:{address}"),
        format!("udp:{address}"),
        format!("unix:{}", socket.display()),
        "exec:/bin/true".to_owned(),
        format!("kill:{parent}"),
        format!("ptrace:{parent}"),
        "fork".to_owned(),
    ] {
        let said = ask(&pool, &what).await;
        assert!(said.starts_with("denied"), "{what} was not denied: {said}");
    }
    assert!(!written.try_exists().unwrap());
    pool.shutdown().await;
}

/// Each of these ends its child, or tries to, while neighbours share its frame.
#[tokio::test(flavor = "multi_thread")]
async fn misbehaving_document_costs_only_itself() {
    use ErrorKind::{Bug, ChildCrashed, OutOfMemory, Timeout};
    let expected = [
        ("segfault", ChildCrashed, "SIGSEGV"),
        ("abort", ChildCrashed, "SIGABRT"),
        ("stack", ChildCrashed, "killed by SIG"),
        ("oom", OutOfMemory, "268435456"),
        ("loop", Timeout, "CPU"),
        ("sleep", Timeout, "no progress"),
        ("panic", Bug, "panics on purpose"),
    ];
    let pool = pool_with(PoolSettings { max_children: 1, ..settings() }).await;
    for (what, kind, words) in expected {
        // With one child, everything behind the first job waits together and shares frames.
        let first = pool.read(text_job("first")).await.unwrap();
        let before = pool.read(text_job("before")).await.unwrap();
        let culprit = pool.read(probe_job(what)).await.unwrap();
        let after = pool.read(text_job("after")).await.unwrap();
        for (innocent, name) in [(first, "first"), (before, "before"), (after, "after")] {
            let (text, end) = gather(innocent).await;
            assert!(end.is_ok(), "{name} beside {what}: {end:?}");
            assert!(text.starts_with(name), "{name} beside {what}: {text}");
            assert_eq!(text.matches(name).count(), 1, "{name} beside {what} came twice");
        }
        let (_, end) = gather(culprit).await;
        let error = end.expect_err(what);
        assert_eq!(error.kind(), kind, "{what}: {error:?}");
        assert!(error.message().contains(words), "{what}: {error:?}");
    }
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn flood_is_cut_at_the_limit_and_blocks_nobody_while_unread() {
    let pool = pool_with(PoolSettings { max_children: 1, ..settings() }).await;
    let limits = Limits { max_text_bytes: 8 * MIB, ..Limits::default() }.for_reader();
    let flood = pool.read(ReadJob { limits, ..probe_job("flood") }).await.unwrap();
    let beside = pool.read(text_job("beside")).await.unwrap();
    let (text, end) = gather(beside).await;
    end.unwrap();
    assert!(text.starts_with("beside"));
    let (text, _) = gather(flood).await;
    assert!(text.len() as u64 > 4 * MIB && text.len() as u64 <= 9 * MIB, "{} bytes", text.len());
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_work_inside_a_child() {
    let pool = pool().await;
    assert!(ask(&pool, "thread").await.contains("allowed"));
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn child_serves_one_tenant_only_and_is_kept_for_it() {
    let pool = pool_with(PoolSettings { max_children: 1, ..settings() }).await;
    let first = pid_of_a_child(&pool, TENANT_A).await;
    assert_eq!(pid_of_a_child(&pool, TENANT_A).await, first);
    assert_ne!(pid_of_a_child(&pool, TENANT_B).await, first);
    assert_ne!(pid_of_a_child(&pool, TENANT_A).await, first);
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lone_document_gets_a_fresh_child_that_nobody_uses_after_it() {
    let pool = pool_with(PoolSettings { max_children: 1, ..settings() }).await;
    let shared = pid_of_a_child(&pool, TENANT_A).await;
    let (text, end) = read(&pool, ReadJob { alone: true, ..probe_job("pid") }).await;
    end.unwrap();
    assert_ne!(text, shared.to_string());
    assert_ne!(pid_of_a_child(&pool, TENANT_A).await.to_string(), text);
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn child_is_replaced_after_its_number_of_documents() {
    let pool = pool_with(PoolSettings { max_children: 1, recycle_after: 2, ..settings() }).await;
    let first = pid_of_a_child(&pool, TENANT_A).await;
    assert_eq!(pid_of_a_child(&pool, TENANT_A).await, first);
    assert_ne!(pid_of_a_child(&pool, TENANT_A).await, first);
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_file_travels_as_a_descriptor_of_its_own() {
    let mut file = tempfile::tempfile().unwrap();
    for _ in 0..512 {
        file.write_all(&[b'x'; 4096]).unwrap();
    }
    // The position of the caller's own descriptor must not matter.
    let content = Content::File(Arc::new(file), 2 * MIB);
    let pool = pool().await;
    for _ in 0..2 {
        let (text, end) = read(&pool, job(TENANT_A, content.clone())).await;
        end.unwrap();
        assert!(text.starts_with("xxxx"));
    }
    let large = Content::Inline(Bytes::from(vec![b'y'; 2 << 20]));
    let (text, end) = read(&pool, job(TENANT_A, large)).await;
    end.unwrap();
    assert!(text.starts_with("yyyy"));
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_findings_end_the_reading_and_free_the_child() {
    let pool = pool_with(PoolSettings { max_children: 1, max_detached: 0, ..settings() }).await;
    let endless = ReadJob {
        allowance: Allowance {
            cpu_without_progress: Duration::from_hours(1),
            wall_without_progress: Duration::from_hours(1),
            memory_bytes: 256 * MIB,
        },
        ..probe_job("loop")
    };
    let findings = pool.read(endless).await.unwrap();
    let waiting = pool.read(text_job("innocent")).await.unwrap();
    drop(findings);
    let (text, end) = gather(waiting).await;
    end.unwrap();
    assert!(text.starts_with("innocent"));
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_document_does_not_hold_up_its_neighbours() {
    let pool = pool_with(PoolSettings { max_children: 1, ..settings() }).await;
    let endless = ReadJob {
        allowance: Allowance {
            cpu_without_progress: Duration::from_hours(1),
            wall_without_progress: Duration::from_hours(1),
            memory_bytes: 256 * MIB,
        },
        ..probe_job("loop")
    };
    let slow = pool.read(endless).await.unwrap();
    let mut waiting = Vec::new();
    for n in 0..100 {
        waiting.push(pool.read(text_job(&format!("document {n}"))).await.unwrap());
    }
    for findings in waiting {
        gather(findings).await.1.unwrap();
    }
    pool.shutdown().await;
    let (_, end) = gather(slow).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ShuttingDown);
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_findings_of_small_documents_do_not_block_the_others() {
    let pool = pool_with(PoolSettings { max_children: 1, ..settings() }).await;
    let mut unread = Vec::new();
    for n in 0..100 {
        unread.push(pool.read(text_job(&format!("document {n}"))).await.unwrap());
    }
    let (_, end) = read(&pool, text_job("last")).await;
    end.unwrap();
    for findings in unread.into_iter().rev() {
        gather(findings).await.1.unwrap();
    }
    pool.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_ends_every_reading_and_every_child() {
    let pool = pool().await;
    let mut pids = Vec::new();
    for tenant in [TENANT_A, TENANT_B] {
        pids.push(pid_of_a_child(&pool, tenant).await);
    }
    let mut readings = Vec::new();
    for what in ["sleep", "loop", "sleep", "loop"] {
        readings.push(pool.read(probe_job(what)).await.unwrap());
    }
    pool.shutdown().await;
    for reading in readings {
        assert_eq!(gather(reading).await.1.unwrap_err().kind(), ErrorKind::ShuttingDown);
    }
    assert!(pids.into_iter().all(is_gone));
    assert_eq!(pool.read(text_job("late")).await.unwrap_err().kind(), ErrorKind::ShuttingDown);
}

#[test]
fn dropped_pool_and_runtime_leave_no_child() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let pids = runtime.block_on(async {
        let pool = pool().await;
        let pids = [pid_of_a_child(&pool, TENANT_A).await, pid_of_a_child(&pool, TENANT_B).await];
        drop(pool.read(probe_job("loop")).await.unwrap());
        pids
    });
    drop(runtime);
    until(|| pids.iter().all(|pid| is_gone(*pid)));
}

#[tokio::test(flavor = "multi_thread")]
async fn program_that_is_no_child_is_an_error_and_not_an_endless_start() {
    let settings = PoolSettings { sandbox: Sandbox::BestEffort, ..PoolSettings::new("/bin/true") };
    let pool = pool_with(settings).await;
    let (_, end) = read(&pool, text_job("x")).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::Unavailable);
    let required =
        ReaderPool::start(PoolSettings::new("/bin/true"), Arc::new(SystemClock::new()), String::new()).await;
    assert!(required.is_err());
    pool.shutdown().await;
}

/// Plays the parent in the test below; on its own it has nothing to do.
#[tokio::test(flavor = "multi_thread")]
async fn parent_to_be_killed() {
    if std::env::args().all(|argument| argument != PLAY_PARENT) {
        return;
    }
    let pool = pool().await;
    let endless = pool.read(probe_job("loop")).await.unwrap();
    let pid = pid_of_a_child(&pool, TENANT_A).await;
    println!("\nready {pid}");
    std::io::stdout().flush().unwrap();
    gather(endless).await.1.unwrap_err();
    std::future::pending::<()>().await;
}

/// A harmless argument of the test harness by which the parent's part is recognised.
const PLAY_PARENT: &str = "--color=never";

#[test]
#[expect(clippy::disallowed_methods, reason = "the parent must be another process to be killed")]
fn killed_parent_leaves_no_child() {
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "parent_to_be_killed", "--nocapture", PLAY_PARENT])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = Vec::new();
    let mut output = parent.stdout.take().unwrap();
    while !String::from_utf8_lossy(&said).lines().any(|line| line.starts_with("ready ")) {
        let mut piece = [0_u8; 256];
        let n = output.read(&mut piece).unwrap();
        assert_ne!(n, 0, "the parent ended: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&piece[..n]);
    }
    let children = children_of(parent.id());
    assert!(!children.is_empty());
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(|| children.iter().all(|pid| is_gone(*pid)));
}

/// Waits for something that happens without a sign. The machine's patience is the only limit.
fn until(happened: impl Fn() -> bool) {
    while !happened() {
        std::thread::yield_now();
    }
}
