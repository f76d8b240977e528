//! What stands around a language model, on paused time: each decorator by itself, over a model that does as it is told.

#![expect(clippy::unwrap_used, reason = "test binary")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use docmill_backends::llm::{Breaker, Concurrency, Metered, Pace, Patient, Prices, TimeLimit};
use docmill_core::clock::{Clock, Timestamp};
use docmill_core::metrics::{Metrics, Sample};
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Ending, Material, Question, Schema};
use docmill_core::{Error, ErrorKind, Result};
use tokio::time::Instant;

/// Goes with the runtime's clock, which jumps over pauses.
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.elapsed().as_millis() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(RuntimeClock(Instant::now()))
}

/// Fails as the script says, in its order, and then answers; every call takes a while.
struct Scripted {
    script: Mutex<VecDeque<Error>>,
    takes: Duration,
    calls: AtomicU32,
    at_once: AtomicU32,
    most_at_once: AtomicU32,
}

impl Scripted {
    fn new(takes: Duration, script: impl IntoIterator<Item = Error>) -> Arc<Self> {
        Arc::new(Self {
            script: Mutex::new(script.into_iter().collect()),
            takes,
            calls: AtomicU32::new(0),
            at_once: AtomicU32::new(0),
            most_at_once: AtomicU32::new(0),
        })
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Llm for Scripted {
    fn provider(&self) -> &'static str {
        "scripted"
    }

    fn identity(&self) -> &'static str {
        "scripted 1"
    }

    fn sees(&self) -> bool {
        false
    }

    async fn ask(&self, _: &Question) -> Result<Answer> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        match self.script.lock().unwrap().pop_front() {
            Some(error) => Err(error),
            None => Ok(Answer {
                text: "{}".into(),
                ending: Ending::Complete,
                model: "scripted-1".into(),
                tokens_in: 100,
                tokens_out: 10,
                cost: None,
            }),
        }
    }
}

fn question() -> Question {
    let schema = Schema { name: "document", body: serde_json::json!({}) };
    Question { task: "t".into(), material: Material::Text("m".into()), schema, max_tokens: 1 }
}

async fn took(llm: &dyn Llm) -> (Option<ErrorKind>, Duration) {
    let began = Instant::now();
    let answer = llm.ask(&question()).await;
    (answer.err().map(|error| error.kind()), began.elapsed())
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTES: Duration = Duration::from_mins(3);

#[tokio::test(start_paused = true)]
async fn call_that_hangs_ends_at_its_limit() {
    let llm = TimeLimit::new(Scripted::new(Duration::from_hours(1), []), 90 * SECOND);
    assert_eq!(took(&llm).await, (Some(ErrorKind::Timeout), 90 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_failure_has_its_own_pause_or_none() {
    for (kind, again_after) in [
        (ErrorKind::RateLimited, Some(30)),
        (ErrorKind::Timeout, Some(5)),
        (ErrorKind::Unavailable, Some(5)),
        (ErrorKind::ContentBlocked, None),
        (ErrorKind::SchemaMismatch, None),
        (ErrorKind::InvalidRequest, None),
        (ErrorKind::Forbidden, None),
        (ErrorKind::LimitExceeded, None),
    ] {
        let model = Scripted::new(Duration::ZERO, [Error::new(kind, "x")]);
        let llm = Patient::new(Arc::clone(&model) as _, MINUTES, clock());
        match again_after {
            Some(seconds) => assert_eq!(took(&llm).await, (None, SECOND * seconds), "{kind}"),
            None => {
                assert_eq!((took(&llm).await, model.calls()), ((Some(kind), Duration::ZERO), 1), "{kind}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pause_that_was_asked_for_is_kept_unless_it_is_longer_than_all_the_time_there_is() {
    let busy = |seconds| Error::rate_limited("x").with_retry_after(SECOND * seconds);
    let llm = Patient::new(Scripted::new(Duration::ZERO, [busy(7), busy(100)]), MINUTES, clock());
    assert_eq!(took(&llm).await, (None, 107 * SECOND));
    let model = Scripted::new(Duration::ZERO, [busy(200)]);
    let llm = Patient::new(Arc::clone(&model) as _, MINUTES, clock());
    assert_eq!((took(&llm).await, model.calls()), ((Some(ErrorKind::RateLimited), Duration::ZERO), 1));
}

#[tokio::test(start_paused = true)]
async fn nothing_takes_longer_than_the_total_whatever_is_tried() {
    let hanging = Arc::new(TimeLimit::new(Scripted::new(Duration::from_hours(1), []), 90 * SECOND));
    let llm = Patient::new(hanging, MINUTES, clock());
    assert_eq!(took(&llm).await, (Some(ErrorKind::Timeout), MINUTES), "90 s, a pause, and what is left");
    let down = (0..1000).map(|_| Error::unavailable("x"));
    let llm = Patient::new(Scripted::new(Duration::ZERO, down), MINUTES, clock());
    let (kind, elapsed) = took(&llm).await;
    assert_eq!(kind, Some(ErrorKind::Unavailable));
    assert!(elapsed <= MINUTES && elapsed > MINUTES / 2, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn no_more_are_under_way_at_once_than_may_be() {
    let model = Scripted::new(SECOND, []);
    let llm = Concurrency::new(Arc::clone(&model) as _, 3);
    let began = Instant::now();
    let asked = question();
    futures::future::join_all((0..9).map(|_| llm.ask(&asked))).await;
    assert_eq!((model.most_at_once.load(Ordering::SeqCst), began.elapsed()), (3, 3 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn calls_are_spread_over_the_minute_and_wait_when_one_was_told_to() {
    let llm = Pace::new(Scripted::new(Duration::ZERO, []), 60, clock());
    let began = Instant::now();
    let asked = question();
    futures::future::join_all((0..5).map(|_| llm.ask(&asked))).await;
    assert_eq!(began.elapsed(), 4 * SECOND);
    let busy = Error::rate_limited("x").with_retry_after(20 * SECOND);
    let llm = Pace::new(Scripted::new(Duration::ZERO, [busy]), 0, clock());
    assert_eq!(took(&llm).await.0, Some(ErrorKind::RateLimited));
    assert_eq!(took(&llm).await, (None, 20 * SECOND), "somebody else keeps the pause too");
}

#[tokio::test(start_paused = true)]
async fn model_that_is_gone_is_left_alone_and_tried_by_one() {
    let model = Scripted::new(Duration::ZERO, (0..6).map(|_| Error::unavailable("x")));
    let llm = Breaker::new(Arc::clone(&model) as _, clock());
    for _ in 0..20 {
        assert_eq!(took(&llm).await, (Some(ErrorKind::Unavailable), Duration::ZERO));
    }
    assert_eq!(model.calls(), 5, "then nobody is asked");
    tokio::time::sleep(61 * SECOND).await;
    assert_eq!(took(&llm).await.0, Some(ErrorKind::Unavailable));
    assert_eq!(took(&llm).await.0, Some(ErrorKind::Unavailable));
    assert_eq!(model.calls(), 6, "one has tried");
    tokio::time::sleep(61 * SECOND).await;
    for _ in 0..3 {
        assert_eq!(took(&llm).await.0, None);
    }
    assert_eq!(model.calls(), 9, "all may again");
}

#[tokio::test(start_paused = true)]
async fn refusals_do_not_count_as_being_gone() {
    let model = Scripted::new(Duration::ZERO, (0..20).map(|_| Error::content_blocked("x")));
    let llm = Breaker::new(Arc::clone(&model) as _, clock());
    for _ in 0..20 {
        took(&llm).await;
    }
    assert_eq!(model.calls(), 20);
}

#[tokio::test(start_paused = true)]
async fn calls_tokens_and_money_are_counted_also_of_a_call_that_nobody_waits_for() {
    let metrics = Metrics::new(&[], "1");
    let prices = Prices { per_million_in: 1000.0, per_million_out: 5000.0 };
    let metered = Arc::new(Metered::new(Scripted::new(SECOND, []), metrics.llm.clone(), prices, clock()));
    let answer = metered.ask(&question()).await.unwrap();
    assert_eq!(answer.cost, Some(0.15));
    took(&TimeLimit::new(metered, SECOND / 2)).await;
    let page = metrics.page(&Sample::default()).unwrap();
    for line in [
        "docmill_llm_calls_total{outcome=\"ok\"} 1",
        "docmill_llm_calls_total{outcome=\"failed\"} 1",
        "docmill_llm_tokens_total{direction=\"in\"} 100",
        "docmill_llm_tokens_total{direction=\"out\"} 10",
        "docmill_llm_cost_total 0.15",
    ] {
        assert!(page.lines().any(|l| l == line), "{line} is missing in\n{page}");
    }
}
