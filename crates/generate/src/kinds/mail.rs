//! Mails that bring a bill as an attachment, as RFC 5322 and MIME have it.

use docmill_core::Result;
use docmill_core::generate::{Sample, SampleKind, Truth};
use serde_json::json;

use super::invoice::bill::Bill;
use super::invoice::draw;
use crate::cast::Cast;
use crate::chance::Chance;
use crate::content::Facts;
use crate::language::{Language, fill};
use crate::paper::Fonts;
use crate::people;

/// The most characters of a line.
const LINE: usize = 76;

/// A mail with its bill.
pub(crate) fn make(cast: &Cast, fonts: &Fonts, chance: &mut Chance, id: &str) -> Result<Sample> {
    let bill = Bill::make(cast, chance)?;
    let vendor = bill.vendor;
    let language = vendor.country.language();
    let words = cast.mails.of(language);
    let writer = people::person(cast, chance, language);
    let values = [
        ("number", bill.number.as_str()),
        ("name", &bill.buyer.contact),
        ("total", &bill.money(bill.total)),
        ("due", &bill.day(bill.due)),
    ];
    let subject = fill(&words.subject, &values);
    let mut lines: Vec<String> = words.body.iter().map(|line| fill(line, &values)).collect();
    lines.push(writer.clone());
    lines.push(vendor.name.clone());
    let body = lines.join("\n\n");
    let from = format!("{}@{}", local_part(&writer), vendor.domain);
    let to = format!("{}@{}.example", local_part(&bill.buyer.contact), domain(&bill.buyer.short));
    let time =
        format!("{:02}:{:02}:{:02}", chance.between(7, 18), chance.between(0, 59), chance.between(0, 59));
    let sent = format!("{} {time} +0000", bill.date.strftime("%a, %d %b %Y"));
    let attached = format!("{}.pdf", file_name(&format!("{}-{}", bill.words.invoice, bill.number)));
    let inner = draw(&bill, fonts).into_pdf(fonts, &format!("{id}-1"))?;

    let boundary = format!("=_docmill_{}", chance.digits(16));
    let name = |person: &str| encoded(person, language);
    let mut out = String::new();
    for line in [
        format!("Date: {sent}"),
        format!("From: {} <{from}>", name(&writer)),
        format!("To: {} <{to}>", name(&bill.buyer.contact)),
        format!("Subject: {}", encoded(&subject, language)),
        format!("Message-ID: <{}.{}@{}>", chance.digits(10), bill.customer, vendor.domain),
        "MIME-Version: 1.0".into(),
        format!("Content-Type: multipart/mixed; boundary=\"{boundary}\""),
        String::new(),
        format!("--{boundary}"),
        "Content-Type: text/plain; charset=utf-8".into(),
        "Content-Transfer-Encoding: base64".into(),
        String::new(),
        base64(body.as_bytes()),
        format!("--{boundary}"),
        format!("Content-Type: application/pdf; name=\"{attached}\""),
        format!("Content-Disposition: attachment; filename=\"{attached}\""),
        "Content-Transfer-Encoding: base64".into(),
        String::new(),
        base64(&inner.bytes),
        format!("--{boundary}--"),
    ] {
        out.push_str(&line);
        out.push_str("\r\n");
    }

    let mut facts = Facts::default();
    facts.say("from", from);
    facts.say("to", to);
    facts.say("subject", subject.as_str());
    facts.imply("date", bill.date.to_string());
    facts.imply("attachments", json!([attached]));
    let file = format!("{id}.eml");
    let truth = Truth {
        id: id.to_owned(),
        file: file.clone(),
        media_type: "message/rfc822",
        kind: SampleKind::Mail,
        language: language.code(),
        title: subject,
        date: bill.date.to_string(),
        vendor: Some(vendor.name.clone()),
        layout: "mail".into(),
        scan: None,
        pages: 1,
        schema: None,
        fields: facts.fields,
        shown: facts.shown,
        text: body,
        attachments: vec![Truth { file: attached, ..inner.truth }],
    };
    Ok(Sample { name: file, bytes: out.into_bytes().into(), truth })
}

/// `Anne Müller` as `anne.mueller`.
fn local_part(person: &str) -> String {
    plain_letters(person).split_whitespace().collect::<Vec<_>>().join(".")
}

fn domain(company: &str) -> String {
    plain_letters(company)
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|p| !p.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// In letters that every system takes.
fn plain_letters(text: &str) -> String {
    let mut out = String::new();
    for c in text.to_lowercase().chars() {
        match c {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'ß' => out.push_str("ss"),
            'é' | 'è' | 'ê' | 'ë' => out.push('e'),
            'à' | 'â' => out.push('a'),
            'ç' => out.push('c'),
            'î' | 'ï' => out.push('i'),
            'ô' => out.push('o'),
            c if c.is_ascii_alphanumeric() || c == ' ' || c == '-' => out.push(c),
            _ => out.push(' '),
        }
    }
    out
}

fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

/// A word of a header field: as it is where it may be, else as RFC 2047 has it; German offices still use an older set.
fn encoded(text: &str, language: Language) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    if language == Language::De {
        let letters: String =
            text.chars()
                .map(|c| match c {
                    ' ' => "_".to_owned(),
                    c if c.is_ascii_alphanumeric() => c.to_string(),
                    c => u8::try_from(u32::from(c))
                        .map_or_else(|_| "?".to_owned(), |byte| format!("={byte:02X}")),
                })
                .collect();
        return format!("=?iso-8859-1?Q?{letters}?=");
    }
    format!("=?utf-8?B?{}?=", base64(text.as_bytes()))
}

/// In lines that mail servers take.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + bytes.len() / 57 * 2 + 4);
    let mut on_line = 0;
    for three in bytes.chunks(3) {
        if on_line == LINE {
            out.push_str("\r\n");
            on_line = 0;
        }
        let value =
            three.iter().fold(0_u32, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(value >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
        on_line += 4;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_the_standard_shows_it() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert!(base64(&[7; 500]).split("\r\n").all(|line| line.len() <= LINE));
    }

    #[test]
    fn words_of_header_fields_are_ascii() {
        assert_eq!(encoded("Grüße", Language::De), "=?iso-8859-1?Q?Gr=FC=DFe?=");
        assert!(encoded("Éléonore", Language::Fr).is_ascii());
        assert_eq!(local_part("Jörg Großkopf"), "joerg.grosskopf");
    }
}
