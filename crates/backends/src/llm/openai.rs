//! OpenAI, and the many servers that speak like it: chat completions with a JSON schema for the answer.

use docmill_core::config::Provider;
use docmill_core::ports::llm::{Answer, Ending, Material, Question};
use serde_json::{Value, json};

use super::remote::{Tongue, encoded};

/// The way of OpenAI.
pub(super) struct OpenAi;

/// Models that think before they write. They take no temperature, and what they think counts as written: a limit made
/// for the answer would cut it off.
fn thinks(model: &str) -> bool {
    let digit_after_o =
        |m: &str| m.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    model.starts_with("gpt-5") || digit_after_o(model)
}

impl Tongue for OpenAi {
    fn provider(&self) -> Provider {
        Provider::OpenAi
    }

    fn path(&self, _: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn headers(&self, key: &str) -> Vec<(&'static str, String)> {
        if key.is_empty() { Vec::new() } else { vec![("authorization", format!("Bearer {key}"))] }
    }

    fn request(&self, model: &str, question: &Question) -> Value {
        let material = match &question.material {
            Material::Text(text) => json!(text),
            Material::Picture(png) => {
                let url = format!("data:image/png;base64,{}", encoded(png));
                json!([{ "type": "image_url", "image_url": { "url": url } }])
            }
        };
        let mut request = json!({
            "model": model,
            "messages": [
                { "role": "system", "content": question.task },
                { "role": "user", "content": material },
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": question.schema.name, "strict": true, "schema": question.schema.body },
            },
        });
        if !thinks(model) {
            request["temperature"] = json!(0);
            request["max_tokens"] = json!(question.max_tokens);
        }
        request
    }

    fn answer(&self, reply: &Value) -> Option<Answer> {
        let choice = reply.pointer("/choices/0")?;
        let message = choice.get("message")?;
        let refusal = message.get("refusal").and_then(Value::as_str).filter(|words| !words.is_empty());
        let ending = match choice.get("finish_reason").and_then(Value::as_str) {
            end if refusal.is_some() || end == Some("content_filter") => Ending::Refused,
            Some("length") => Ending::CutShort,
            _ => Ending::Complete,
        };
        let tokens = |name: &str| reply.pointer(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Answer {
            text: refusal.or_else(|| message.get("content")?.as_str()).unwrap_or_default().to_owned(),
            ending,
            model: reply.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            tokens_in: tokens("/usage/prompt_tokens"),
            tokens_out: tokens("/usage/completion_tokens"),
            cost: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::remote::tests::{picture, question};
    use super::*;

    #[test]
    fn text_is_the_users_and_the_task_is_the_systems() {
        let request = OpenAi.request("gpt-4o-mini", &question());
        assert_eq!(request["messages"][0], json!({ "role": "system", "content": "name the title" }));
        assert_eq!(
            request["messages"][1],
            json!({ "role": "user", "content": "<document>dear Joe</document>" })
        );
        assert_eq!(request["response_format"]["json_schema"]["schema"], json!({ "type": "object" }));
        assert_eq!((&request["temperature"], &request["max_tokens"]), (&json!(0), &json!(700)));
        for thinking in ["o3-mini", "gpt-5-nano"] {
            assert!(OpenAi.request(thinking, &question()).get("max_tokens").is_none(), "{thinking}");
        }
        assert_eq!(OpenAi.headers("sk"), [("authorization", "Bearer sk".to_owned())]);
        assert_eq!(OpenAi.headers(""), []);
    }

    #[test]
    fn picture_travels_inside_the_request() {
        let request = OpenAi.request("gpt-4o", &picture());
        let url = &request["messages"][1]["content"][0]["image_url"]["url"];
        assert_eq!(url, "data:image/png;base64,iVBORw==");
    }

    #[test]
    fn reply_gives_words_ending_and_tokens() {
        let reply = |message: Value, end: &str| {
            json!({ "model": "m", "choices": [{ "message": message, "finish_reason": end }],
                    "usage": { "prompt_tokens": 5, "completion_tokens": 2 } })
        };
        let said = OpenAi.answer(&reply(json!({ "content": "{}" }), "stop")).unwrap();
        assert_eq!(
            (said.text.as_str(), said.ending, said.tokens_in, said.tokens_out),
            ("{}", Ending::Complete, 5, 2)
        );
        let cut = OpenAi.answer(&reply(json!({ "content": "{" }), "length")).unwrap();
        assert_eq!(cut.ending, Ending::CutShort);
        let refused = OpenAi.answer(&reply(json!({ "content": null, "refusal": "no" }), "stop")).unwrap();
        assert_eq!((refused.text.as_str(), refused.ending), ("no", Ending::Refused));
        let blocked = OpenAi.answer(&reply(json!({ "content": null }), "content_filter")).unwrap();
        assert_eq!(blocked.ending, Ending::Refused);
        for odd in [json!(null), json!([]), json!({ "choices": [] }), json!({ "choices": [{}] })] {
            assert_eq!(OpenAi.answer(&odd), None, "{odd}");
        }
    }
}
