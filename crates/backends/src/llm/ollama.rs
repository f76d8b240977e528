//! Ollama, a server on one's own machine, in its own way: it takes the schema as a grammar, and must be told how much
//! it may read, or it silently forgets the beginning.

use docmill_core::config::Provider;
use docmill_core::ports::llm::{Answer, Ending, Material, Question};
use serde_json::{Value, json};

use super::remote::{Tongue, encoded};

/// The way of Ollama.
pub(super) struct Ollama;

/// A token has at least so many bytes of text, nearly always.
const BYTES_PER_TOKEN: usize = 3;

/// Room for the least that is asked, and for a picture.
const LEAST_CONTEXT: usize = 4096;

/// How many tokens the model must be able to hold. Rounded, because another number means loading the model again.
fn context(question: &Question) -> usize {
    let material = match &question.material {
        Material::Text(text) => text.len() / BYTES_PER_TOKEN,
        Material::Picture(_) => LEAST_CONTEXT,
    };
    let all = material + question.task.len() / BYTES_PER_TOKEN + question.max_tokens as usize;
    all.next_power_of_two().max(LEAST_CONTEXT)
}

impl Tongue for Ollama {
    fn provider(&self) -> Provider {
        Provider::Ollama
    }

    fn path(&self, _: &str) -> String {
        "/api/chat".to_owned()
    }

    fn headers(&self, key: &str) -> Vec<(&'static str, String)> {
        if key.is_empty() { Vec::new() } else { vec![("authorization", format!("Bearer {key}"))] }
    }

    fn request(&self, model: &str, question: &Question) -> Value {
        let material = match &question.material {
            Material::Text(text) => json!({ "role": "user", "content": text }),
            Material::Picture(png) => json!({ "role": "user", "content": "", "images": [encoded(png)] }),
        };
        json!({
            "model": model,
            "stream": false,
            "format": question.schema.body,
            "messages": [{ "role": "system", "content": question.task }, material],
            "options": { "temperature": 0, "num_predict": question.max_tokens, "num_ctx": context(question) },
        })
    }

    fn answer(&self, reply: &Value) -> Option<Answer> {
        let text = reply.pointer("/message/content")?.as_str()?.to_owned();
        let cut = reply.get("done_reason").and_then(Value::as_str) == Some("length");
        let tokens = |name: &str| reply.get(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Answer {
            text,
            ending: if cut { Ending::CutShort } else { Ending::Complete },
            model: reply.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            tokens_in: tokens("prompt_eval_count"),
            tokens_out: tokens("eval_count"),
            cost: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::remote::tests::{picture, question};
    use super::*;

    #[test]
    fn request_says_how_much_must_be_held() {
        let request = Ollama.request("m", &question());
        assert_eq!(request["options"]["num_ctx"], 4096);
        let long = Question { material: Material::Text("x".repeat(24 << 10)), ..question() };
        assert_eq!(Ollama.request("m", &long)["options"]["num_ctx"], 16384);
        assert_eq!(Ollama.request("m", &picture())["messages"][1]["images"][0], "iVBORw==");
    }

    #[test]
    fn reply_gives_words_and_tokens() {
        let reply = json!({ "model": "m", "message": { "content": "{}" }, "done_reason": "length",
                            "prompt_eval_count": 5, "eval_count": 2 });
        let said = Ollama.answer(&reply).unwrap();
        assert_eq!(
            (said.text.as_str(), said.ending, said.tokens_in, said.tokens_out),
            ("{}", Ending::CutShort, 5, 2)
        );
        assert_eq!(Ollama.answer(&json!({ "error": "no such model" })), None);
    }
}
