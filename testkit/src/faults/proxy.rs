//! A TCP proxy that stands between a client and its server and, when told to, behaves like a bad network.
//!
//! It knows nothing of what it forwards, so it serves for any protocol. Every command takes effect on connections
//! that stand already as well as on new ones, before the command returns.

#![expect(clippy::expect_used, reason = "a proxy that cannot do as it is told fails the test")]

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Read at once; a request's first words are in the first piece.
const PIECE: usize = 64 * 1024;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1_024;

/// What the network does with what it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weather {
    /// Everything arrives.
    Fine,
    /// Everything arrives, each piece so much later.
    Slow(Duration),
    /// Nothing arrives, and nobody is told. What was sent meanwhile arrives when the weather changes.
    Gone,
}

/// The proxy; it stops with this value.
pub struct Proxy {
    state: Arc<State>,
    /// Holds the port while nobody listens on it, so that nobody else gets it.
    _reserved: TcpSocket,
    listening: Mutex<Option<JoinHandle<()>>>,
}

struct State {
    address: SocketAddr,
    target: String,
    weather: watch::Sender<Weather>,
    /// Counts up when all connections are to be cut.
    cuts: watch::Sender<u64>,
    /// Answers to a request that holds these bytes are lost, so many times.
    lost: Mutex<Option<(Vec<u8>, usize)>>,
    /// Answers end after so many bytes, so many times.
    short: Mutex<Option<(u64, usize)>>,
    accepted: AtomicUsize,
    lost_answers: AtomicUsize,
    forwarded: AtomicU64,
}

impl Proxy {
    /// Listens on a free port of this machine and forwards to `target` (host and port), on the current runtime.
    pub fn start(target: &str) -> io::Result<Self> {
        let reserved = socket()?;
        reserved.bind(([127, 0, 0, 1], 0).into())?;
        let address = reserved.local_addr()?;
        let state = Arc::new(State {
            address,
            target: target.to_owned(),
            weather: watch::channel(Weather::Fine).0,
            cuts: watch::channel(0).0,
            lost: Mutex::new(None),
            short: Mutex::new(None),
            accepted: AtomicUsize::new(0),
            lost_answers: AtomicUsize::new(0),
            forwarded: AtomicU64::new(0),
        });
        let proxy = Self { state, _reserved: reserved, listening: Mutex::new(None) };
        proxy.listen()?;
        Ok(proxy)
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// All is well again.
    pub fn recover(&self) {
        self.state.weather.send_replace(Weather::Fine);
        *lock(&self.state.lost) = None;
        *lock(&self.state.short) = None;
        if lock(&self.listening).is_none() {
            self.listen().expect("the port is reserved");
        }
    }

    /// Cuts every connection that stands. New ones are made as before.
    pub fn cut(&self) {
        self.state.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Cuts every connection and refuses new ones, as if the server were not running.
    pub async fn refuse(&self) {
        let listening = lock(&self.listening).take();
        if let Some(listening) = listening {
            listening.abort();
            // It was aborted, so all it can say is that it was; now its socket is closed.
            drop(listening.await);
        }
        self.cut();
    }

    /// Accepts connections and bytes, and forwards nothing until it is told to recover.
    pub fn black_hole(&self) {
        self.state.weather.send_replace(Weather::Gone);
    }

    /// Holds every piece back for so long, in both directions.
    pub fn delay(&self, by: Duration) {
        self.state.weather.send_replace(Weather::Slow(by));
    }

    /// Forwards the next `times` requests that hold `needle` in one piece, waits for the server's answer, swallows
    /// it and cuts that connection: the server has done it, and the client will never know.
    pub fn lose_answers_to(&self, needle: impl Into<Vec<u8>>, times: usize) {
        *lock(&self.state.lost) = Some((needle.into(), times));
    }

    /// Cuts the next `times` connections after so many bytes of their answers.
    pub fn truncate_answers(&self, after: u64, times: usize) {
        *lock(&self.state.short) = Some((after, times));
    }

    /// Connections accepted so far.
    pub fn accepted(&self) -> usize {
        self.state.accepted.load(Ordering::SeqCst)
    }

    /// Answers swallowed so far.
    pub fn lost_answers(&self) -> usize {
        self.state.lost_answers.load(Ordering::SeqCst)
    }

    /// Bytes of requests forwarded so far.
    pub fn forwarded_bytes(&self) -> u64 {
        self.state.forwarded.load(Ordering::SeqCst)
    }

    fn listen(&self) -> io::Result<()> {
        let socket = socket()?;
        socket.bind(self.state.address)?;
        let listener = socket.listen(BACKLOG)?;
        let state = Arc::clone(&self.state);
        *lock(&self.listening) = Some(tokio::spawn(accept(listener, state)));
        Ok(())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(listening) = lock(&self.listening).take() {
            listening.abort();
        }
        self.cut();
    }
}

/// Two sockets may be bound to one port as long as one of them listens at most.
fn socket() -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    Ok(socket)
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    loop {
        let Ok((client, _)) = listener.accept().await else { return };
        state.accepted.fetch_add(1, Ordering::SeqCst);
        let cuts = state.cuts.subscribe();
        tokio::spawn(serve(client, Arc::clone(&state), cuts));
    }
}

/// One connection, until an end closes it or it is cut.
async fn serve(client: TcpStream, state: Arc<State>, mut cuts: watch::Receiver<u64>) {
    let connection = async {
        state.fine().await;
        let server = TcpStream::connect(&state.target).await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let lose = watch::channel(false).0;
        let requests = forward_requests(from_client, to_server, &state, &lose);
        let answers = forward_answers(from_server, to_client, &state, &lose);
        tokio::try_join!(requests, answers).map(drop)
    };
    tokio::select! {
        // Either end broke off, or an answer was to be lost: dropping both sockets tells the other end.
        _ended = connection => {}
        _cut = cuts.changed() => {}
    }
}

async fn forward_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: &State,
    lose: &watch::Sender<bool>,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        state.fine().await;
        if state.is_lost(&piece[..read]) {
            lose.send_replace(true);
        }
        to.write_all(&piece[..read]).await?;
        state.forwarded.fetch_add(read as u64, Ordering::SeqCst);
    }
}

async fn forward_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: &State,
    lose: &watch::Sender<bool>,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut left = None;
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        state.fine().await;
        if *lose.borrow() {
            state.lost_answers.fetch_add(1, Ordering::SeqCst);
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        left = left.or_else(|| state.is_short());
        let Some(most) = &mut left else {
            to.write_all(&piece[..read]).await?;
            continue;
        };
        let some = (*most).min(read as u64);
        to.write_all(&piece[..some as usize]).await?;
        *most -= some;
        if *most == 0 {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
    }
}

impl State {
    /// Waits while the weather is bad.
    async fn fine(&self) {
        let mut weather = self.weather.subscribe();
        loop {
            let now = *weather.borrow_and_update();
            match now {
                Weather::Fine => return,
                Weather::Slow(by) => return tokio::time::sleep(by).await,
                Weather::Gone => weather.changed().await.expect("the proxy holds the sender"),
            }
        }
    }

    fn is_lost(&self, piece: &[u8]) -> bool {
        let mut lost = lock(&self.lost);
        match &mut *lost {
            Some((needle, times)) if *times > 0 && holds(piece, needle) => {
                *times -= 1;
                true
            }
            _ => false,
        }
    }

    fn is_short(&self) -> Option<u64> {
        match &mut *lock(&self.short) {
            Some((after, times)) if *times > 0 => {
                *times -= 1;
                Some(*after)
            }
            _ => None,
        }
    }
}

fn holds(piece: &[u8], needle: &[u8]) -> bool {
    needle.is_empty() || piece.windows(needle.len()).any(|window| window == needle)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// Long beside what anything here takes.
    const LONG: Duration = Duration::from_secs(20);

    /// Short, but long beside what a piece takes over the loopback.
    const SHORT: Duration = Duration::from_millis(200);

    /// A server that says everything twice, and a proxy before it.
    async fn echo() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                tokio::spawn(async move {
                    let mut piece = [0; 1_024];
                    while let Ok(read @ 1..) = client.read(&mut piece).await {
                        let twice = [&piece[..read], &piece[..read]].concat();
                        if client.write_all(&twice).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Proxy::start(&target).unwrap()
    }

    async fn ask(client: &mut TcpStream, words: &str) -> io::Result<String> {
        client.write_all(words.as_bytes()).await?;
        let mut answer = vec![0; words.len() * 2];
        timeout(LONG, client.read_exact(&mut answer)).await.expect("an answer or an end")?;
        Ok(String::from_utf8(answer).unwrap())
    }

    async fn connect(proxy: &Proxy) -> TcpStream {
        TcpStream::connect(proxy.address()).await.unwrap()
    }

    #[tokio::test]
    async fn fine_weather_forwards_both_ways() {
        let proxy = echo().await;
        let mut client = connect(&proxy).await;
        assert_eq!(ask(&mut client, "one").await.unwrap(), "oneone");
        assert_eq!(ask(&mut client, "two").await.unwrap(), "twotwo");
        assert_eq!((proxy.accepted(), proxy.forwarded_bytes(), proxy.lost_answers()), (1, 6, 0));
    }

    #[tokio::test]
    async fn cut_ends_connections_and_allows_new_ones() {
        let proxy = echo().await;
        let mut client = connect(&proxy).await;
        ask(&mut client, "one").await.unwrap();
        proxy.cut();
        assert!(ask(&mut client, "two").await.is_err());
        assert_eq!(ask(&mut connect(&proxy).await, "two").await.unwrap(), "twotwo");
    }

    #[tokio::test]
    async fn refuse_closes_the_port_until_it_recovers() {
        let proxy = echo().await;
        let mut client = connect(&proxy).await;
        ask(&mut client, "one").await.unwrap();
        proxy.refuse().await;
        assert!(ask(&mut client, "two").await.is_err());
        let refused = TcpStream::connect(proxy.address()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        proxy.recover();
        assert_eq!(ask(&mut connect(&proxy).await, "three").await.unwrap(), "threethree");
    }

    #[tokio::test]
    async fn black_hole_holds_everything_back_until_it_recovers() {
        let proxy = echo().await;
        let mut old = connect(&proxy).await;
        ask(&mut old, "one").await.unwrap();
        proxy.black_hole();
        let mut new = connect(&proxy).await;
        for client in [&mut old, &mut new] {
            client.write_all(b"two").await.unwrap();
            let mut answer = [0; 6];
            assert!(timeout(SHORT, client.read_exact(&mut answer)).await.is_err(), "nothing may come");
        }
        assert_eq!(proxy.forwarded_bytes(), 3);
        proxy.recover();
        for client in [&mut old, &mut new] {
            let mut answer = [0; 6];
            timeout(LONG, client.read_exact(&mut answer)).await.unwrap().unwrap();
            assert_eq!(&answer, b"twotwo");
        }
    }

    #[tokio::test]
    async fn delay_holds_each_piece_back() {
        let proxy = echo().await;
        let mut client = connect(&proxy).await;
        proxy.delay(SHORT);
        let began = tokio::time::Instant::now();
        assert_eq!(ask(&mut client, "one").await.unwrap(), "oneone");
        assert!(began.elapsed() >= SHORT * 2, "once on each way");
    }

    #[tokio::test]
    async fn lost_answer_was_done_by_the_server() {
        let proxy = echo().await;
        proxy.lose_answers_to("two", 1);
        let mut client = connect(&proxy).await;
        assert_eq!(ask(&mut client, "one").await.unwrap(), "oneone");
        assert!(ask(&mut client, "two").await.is_err());
        assert_eq!((proxy.lost_answers(), proxy.forwarded_bytes()), (1, 6), "the request arrived");
        assert_eq!(
            ask(&mut connect(&proxy).await, "two").await.unwrap(),
            "twotwo",
            "the next one is not lost"
        );
    }

    #[tokio::test]
    async fn truncated_answer_ends_early() {
        let proxy = echo().await;
        proxy.truncate_answers(4, 1);
        let mut client = connect(&proxy).await;
        client.write_all(b"one").await.unwrap();
        let mut answer = Vec::new();
        timeout(LONG, client.read_to_end(&mut answer)).await.unwrap().unwrap();
        assert_eq!(answer, b"oneo");
        assert_eq!(ask(&mut connect(&proxy).await, "two").await.unwrap(), "twotwo");
    }
}
