//! Anthropic: messages, with the answer as the input of a tool that the model must use, which gives it its form.

use docmill_core::config::Provider;
use docmill_core::ports::llm::{Answer, Ending, Material, Question};
use serde_json::{Value, json};

use super::remote::{Tongue, encoded};

/// The way of Anthropic.
pub(super) struct Anthropic;

/// The version of the interface that this file speaks.
const VERSION: &str = "2023-06-01";

impl Tongue for Anthropic {
    fn provider(&self) -> Provider {
        Provider::Anthropic
    }

    fn path(&self, _: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn headers(&self, key: &str) -> Vec<(&'static str, String)> {
        vec![("x-api-key", key.to_owned()), ("anthropic-version", VERSION.to_owned())]
    }

    fn request(&self, model: &str, question: &Question) -> Value {
        let material = match &question.material {
            Material::Text(text) => json!({ "type": "text", "text": text }),
            Material::Picture(png) => json!({
                "type": "image",
                "source": { "type": "base64", "media_type": "image/png", "data": encoded(png) },
            }),
        };
        let name = question.schema.name;
        json!({
            "model": model,
            "max_tokens": question.max_tokens,
            "system": question.task,
            "messages": [{ "role": "user", "content": [material] }],
            "tools": [{ "name": name, "description": "Takes the answer.", "input_schema": question.schema.body }],
            "tool_choice": { "type": "tool", "name": name },
        })
    }

    fn answer(&self, reply: &Value) -> Option<Answer> {
        let content = reply.get("content")?.as_array()?;
        let used = content.iter().find_map(|part| part.get("input"));
        let words = || content.iter().filter_map(|part| part.get("text")?.as_str()).collect::<String>();
        let ending = match reply.get("stop_reason").and_then(Value::as_str) {
            Some("refusal") => Ending::Refused,
            Some("max_tokens") => Ending::CutShort,
            _ => Ending::Complete,
        };
        let tokens = |name: &str| reply.pointer(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Answer {
            text: used.map_or_else(words, ToString::to_string),
            ending,
            model: reply.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            tokens_in: tokens("/usage/input_tokens"),
            tokens_out: tokens("/usage/output_tokens"),
            cost: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::remote::tests::{picture, question};
    use super::*;

    #[test]
    fn answer_is_asked_for_as_the_input_of_a_tool() {
        let request = Anthropic.request("claude", &question());
        assert_eq!(request["system"], "name the title");
        assert_eq!(request["messages"][0]["content"][0]["text"], "<document>dear Joe</document>");
        assert_eq!(request["tool_choice"]["name"], request["tools"][0]["name"]);
        assert_eq!(Anthropic.headers("k")[0], ("x-api-key", "k".to_owned()));
        let shown = Anthropic.request("claude", &picture());
        assert_eq!(shown["messages"][0]["content"][0]["source"]["data"], "iVBORw==");
    }

    #[test]
    fn reply_gives_the_input_or_the_words() {
        let reply = |part: Value, end: &str| json!({ "model": "m", "content": [part], "stop_reason": end, "usage": { "input_tokens": 5, "output_tokens": 2 } });
        let used =
            Anthropic.answer(&reply(json!({ "type": "tool_use", "input": { "a": 1 } }), "tool_use")).unwrap();
        assert_eq!((used.text.as_str(), used.ending, used.tokens_in), (r#"{"a":1}"#, Ending::Complete, 5));
        let refused = Anthropic.answer(&reply(json!({ "type": "text", "text": "no" }), "refusal")).unwrap();
        assert_eq!((refused.text.as_str(), refused.ending), ("no", Ending::Refused));
        assert_eq!(Anthropic.answer(&json!({ "error": {} })), None);
    }
}
