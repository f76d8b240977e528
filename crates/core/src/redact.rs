//! Takes secrets out of text that leaves the process: passwords in URLs. The last fence before a log line, a message
//! or a listing of settings is written; whoever writes it need not know what is in it.

use std::borrow::Cow;

/// What stands in place of a secret.
const MASK: &str = "***";

/// Parameters of URLs whose values are secrets, wherever these words are part of the name.
const SECRET_NAMES: &[&str] = &["password", "passwd", "secret", "token", "key", "signature", "credential"];

/// The text without the passwords of its URLs: `scheme://user:***@host/…?sslpassword=***`.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find("://") else { return Cow::Borrowed(text) };
    let mut out = String::new();
    let mut rest = text;
    let mut next = Some(first);
    let mut changed = false;
    while let Some(at) = next {
        let (before, after) = rest.split_at(at + "://".len());
        out.push_str(before);
        let end = after.find(ends_url).unwrap_or(after.len());
        let (url, behind) = after.split_at(end);
        changed |= push_url(&mut out, url);
        rest = behind;
        next = rest.find("://");
    }
    out.push_str(rest);
    if changed { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// Characters that cannot be part of a URL, and so end one in a sentence or in JSON.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\')
}

/// Adds what follows `://`; true if something was left out.
fn push_url(out: &mut String, url: &str) -> bool {
    let (place, parameters) = match url.split_once('?') {
        Some((place, parameters)) => (place, Some(parameters)),
        None => (url, None),
    };
    let mut changed = false;
    // A password may hold a slash or an @ that its writer forgot to encode, so the last @ counts.
    match place.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?.0, host))) {
        Some((user, host)) => {
            out.push_str(&format!("{user}:{MASK}@{host}"));
            changed = true;
        }
        None => out.push_str(place),
    }
    let Some(parameters) = parameters else { return changed };
    for (n, parameter) in parameters.split('&').enumerate() {
        out.push(if n == 0 { '?' } else { '&' });
        match parameter.split_once('=') {
            Some((name, _)) if is_secret(name) => {
                out.push_str(&format!("{name}={MASK}"));
                changed = true;
            }
            _ => out.push_str(parameter),
        }
    }
    changed
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_masked_and_the_rest_stays() {
        for (text, shown) in [
            ("postgres://joe:hunter2@db:5432/x", "postgres://joe:***@db:5432/x"),
            ("cannot open `postgres://joe:hunter2@db/x`: no", "cannot open `postgres://joe:***@db/x`: no"),
            (r#"{"url":"s3://id:hunter2@bucket"}"#, r#"{"url":"s3://id:***@bucket"}"#),
            ("a://u:p/w@d@host/x and b://u:q@host", "a://u:***@host/x and b://u:***@host"),
            (
                "postgres://db/x?user=joe&password=hunter2&sslmode=on",
                "postgres://db/x?user=joe&password=***&sslmode=on",
            ),
            ("s3://b?AWS_SECRET_ACCESS_KEY=hunter2", "s3://b?AWS_SECRET_ACCESS_KEY=***"),
            ("://:hunter2@", "://:***@"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }

    #[test]
    fn text_without_secrets_is_the_same_text() {
        for text in
            ["", "no url", "http://127.0.0.1:8420/metrics", "postgres://joe@db/x", "mail joe@db: hi", "a://"]
        {
            assert!(matches!(redacted(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
