//! A language model that does what it is told: a small HTTP server that speaks like OpenAI's, answers from a script, and
//! remembers what it was asked. Nothing of it thinks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// What it does with a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers with these words.
    Say(String),
    /// Answers with these words, and was cut off there.
    CutShort(String),
    /// Says that it will not.
    Refuse,
    /// Answers with a status, a pause that it asks for, and a body.
    Fail(u16, Option<u32>, String),
    /// Takes the request and says nothing until the caller gives up.
    Hang,
}

impl Act {
    /// Answers in the form that docmill asks for.
    pub fn describe(title: &str) -> Self {
        Self::Say(described(title).to_string())
    }
}

/// An answer in the form that docmill asks for.
pub fn described(title: &str) -> Value {
    json!({ "title": title, "summary": null, "date": null, "type": "letter", "tags": ["scripted"] })
}

type Script = Box<dyn Fn(usize, &Value) -> Act + Send + Sync>;

struct State {
    script: Script,
    asked: Mutex<Vec<Value>>,
    keys: Mutex<Vec<String>>,
}

/// The server. It lives until the process ends: connections are served by threads that nobody waits for.
pub struct ScriptedLlm {
    address: String,
    state: Arc<State>,
}

impl ScriptedLlm {
    /// Acts alike on every request.
    pub fn always(act: Act) -> Self {
        Self::new(move |_, _| act.clone())
    }

    /// Acts by the number of the request, from 0, and by what is asked.
    #[expect(clippy::expect_used, reason = "a test that cannot listen cannot go on")]
    pub fn new(script: impl Fn(usize, &Value) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let state =
            Arc::new(State { script: Box::new(script), asked: Mutex::default(), keys: Mutex::default() });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { address, state }
    }

    /// For `llm.url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it was asked, in order.
    pub fn asked(&self) -> Vec<Value> {
        self.state.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often it was asked.
    pub fn calls(&self) -> usize {
        self.asked().len()
    }

    /// What stood where the key belongs, in order.
    pub fn keys(&self) -> Vec<String> {
        self.state.keys.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves a connection until the other side has enough. Whatever is wrong with it is the other side's to notice.
fn serve(stream: TcpStream, state: &State) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut input = BufReader::new(stream);
    while let Some((key, body)) = request(&mut input) {
        let asked: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let number = {
            let mut all = state.asked.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(asked.clone());
            all.len() - 1
        };
        state.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key);
        let reply = match (state.script)(number, &asked) {
            Act::Say(text) => reply(&json!({ "content": text }), "stop"),
            Act::CutShort(text) => reply(&json!({ "content": text }), "length"),
            Act::Refuse => reply(&json!({ "content": null, "refusal": "I cannot help with that." }), "stop"),
            Act::Fail(status, retry_after, body) => {
                let pause = retry_after.map(|s| format!("retry-after: {s}\r\n")).unwrap_or_default();
                written(status, &pause, &body)
            }
            Act::Hang => {
                // Ends when the caller closes the connection.
                let mut rest = Vec::new();
                if input.read_to_end(&mut rest).is_err() {
                    return;
                }
                return;
            }
        };
        if out.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn reply(message: &Value, end: &str) -> String {
    let body = json!({
        "model": "scripted-1",
        "choices": [{ "index": 0, "message": message, "finish_reason": end }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 50 },
    });
    written(200, "", &body.to_string())
}

fn written(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The key and the body of the next request.
fn request(input: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (mut length, mut key) = (0, String::new());
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "authorization" => value.trim().clone_into(&mut key),
                _ => {}
            }
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some((key, body))
}
