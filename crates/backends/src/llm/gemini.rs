//! Google's Gemini: generated content with a JSON schema.

use docmill_core::config::Provider;
use docmill_core::ports::llm::{Answer, Ending, Material, Question};
use serde_json::{Value, json};

use super::remote::{Tongue, encoded};

/// The way of Gemini.
pub(super) struct Gemini;

/// Its models think before they write, and that counts as written.
const ROOM_TO_THINK: u32 = 4;

impl Tongue for Gemini {
    fn provider(&self) -> Provider {
        Provider::Gemini
    }

    fn path(&self, model: &str) -> String {
        format!("/models/{model}:generateContent")
    }

    fn headers(&self, key: &str) -> Vec<(&'static str, String)> {
        vec![("x-goog-api-key", key.to_owned())]
    }

    fn request(&self, _: &str, question: &Question) -> Value {
        let material = match &question.material {
            Material::Text(text) => json!({ "text": text }),
            Material::Picture(png) => {
                json!({ "inlineData": { "mimeType": "image/png", "data": encoded(png) } })
            }
        };
        json!({
            "systemInstruction": { "parts": [{ "text": question.task }] },
            "contents": [{ "role": "user", "parts": [material] }],
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseJsonSchema": question.schema.body,
                "maxOutputTokens": question.max_tokens * ROOM_TO_THINK,
                "temperature": 0,
            },
        })
    }

    fn answer(&self, reply: &Value) -> Option<Answer> {
        let blocked = reply.pointer("/promptFeedback/blockReason").is_some();
        let candidate = reply.pointer("/candidates/0");
        if candidate.is_none() && !blocked {
            return None;
        }
        let parts = candidate.and_then(|candidate| candidate.pointer("/content/parts")?.as_array());
        let thought = |part: &&Value| part.get("thought").and_then(Value::as_bool) == Some(true);
        let text = parts
            .into_iter()
            .flatten()
            .filter(|part| !thought(part))
            .filter_map(|part| part.get("text")?.as_str())
            .collect();
        let ending = match candidate.and_then(|candidate| candidate.get("finishReason")?.as_str()) {
            Some("STOP") | None if !blocked => Ending::Complete,
            Some("MAX_TOKENS") if !blocked => Ending::CutShort,
            _ => Ending::Refused,
        };
        let tokens = |name: &str| reply.pointer(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Answer {
            text,
            ending,
            model: reply.get("modelVersion").and_then(Value::as_str).unwrap_or_default().to_owned(),
            tokens_in: tokens("/usageMetadata/promptTokenCount"),
            tokens_out: tokens("/usageMetadata/candidatesTokenCount")
                + tokens("/usageMetadata/thoughtsTokenCount"),
            cost: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::remote::tests::{picture, question};
    use super::*;

    #[test]
    fn model_is_part_of_the_path_and_the_key_is_not() {
        assert_eq!(Gemini.path("gemini-2.5-flash"), "/models/gemini-2.5-flash:generateContent");
        assert_eq!(Gemini.headers("k"), [("x-goog-api-key", "k".to_owned())]);
        let request = Gemini.request("m", &question());
        assert_eq!(request["systemInstruction"]["parts"][0]["text"], "name the title");
        assert_eq!(request["contents"][0]["parts"][0]["text"], "<document>dear Joe</document>");
        assert_eq!(
            Gemini.request("m", &picture())["contents"][0]["parts"][0]["inlineData"]["data"],
            "iVBORw=="
        );
    }

    #[test]
    fn reply_gives_words_without_thoughts() {
        let parts = json!([{ "text": "hm", "thought": true }, { "text": "{}" }]);
        let reply = |end: &str| {
            json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": end }], "modelVersion": "m",
                    "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3 } })
        };
        let said = Gemini.answer(&reply("STOP")).unwrap();
        assert_eq!((said.text.as_str(), said.ending, said.tokens_out), ("{}", Ending::Complete, 5));
        assert_eq!(Gemini.answer(&reply("SAFETY")).unwrap().ending, Ending::Refused);
        let blocked = Gemini.answer(&json!({ "promptFeedback": { "blockReason": "OTHER" } })).unwrap();
        assert_eq!(blocked.ending, Ending::Refused);
        assert_eq!(Gemini.answer(&json!({})), None);
    }
}
