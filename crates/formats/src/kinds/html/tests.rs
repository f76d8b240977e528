use crate::tests_support::{read_bytes, read_fixture};

fn text_of(markup: &str) -> String {
    read_bytes("a.html", markup.as_bytes()).text()
}

#[test]
fn visible_text_is_kept_and_the_rest_is_not() {
    let cases = [
        ("<p>one<p>two", "one\n\ntwo\n"),
        ("a <b>bold</b>  word<br>next", "a bold word\nnext\n"),
        ("<script>var x = '<p>no</p>';</script>yes", "yes\n"),
        ("<style>p { }</style>yes<template>no</template>", "yes\n"),
        ("<div hidden>no<div>no</div></div>yes", "yes\n"),
        ("<pre>  a\n    b</pre>", "  a\n    b\n"),
        ("&lt;&amp;&auml;&#8364;&nbsp;x", "<&ä€\u{a0}x\n"),
        ("<table><tr><td>a<td><p>b</p><td>c<tr><td><td>d</table>", "a\tb\tc\n\td\n"),
        (
            "<table><tr><td>a<td colspan=2>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>",
            "a\tb\tb\nc\td\te\nc\tf\tg\n",
        ),
        ("<table><tr><td>a<td rowspan=3>b<tr><td>c<tr><td>d</table>e", "a\tb\nc\tb\nd\tb\n\ne\n"),
        ("<table><tr><th rowspan=3>a</th></tr><tr><td>b<tr><td>c</table>", "a\tb\na\tc\n"),
        ("<ul><li>a<li>b</ul>c", "a\nb\n\nc\n"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>d", "a\nb\nc\n\nd\n"),
        ("<!-- no -->yes", "yes\n"),
        ("<img alt='a picture'>", "a picture\n"),
        ("<title>no</title><body>yes", "yes\n"),
        ("<head><title/><script src='x'/></head><body><p>yes</p>", "yes\n"),
        ("<pre/><p>two\n words</p>", "two words\n"),
        ("<body hidden><p hidden>one<p>two", "one\n\ntwo\n"),
        ("unclosed <b", "unclosed\n"),
        ("<svg><![CDATA[inside]]></svg>", "inside\n"),
        ("", ""),
    ];
    for (markup, expected) in cases {
        assert_eq!(text_of(&format!("<html>{markup}")), expected, "{markup}");
    }
}

#[test]
fn facts_come_from_title_and_meta() {
    let found = read_fixture("html/page.html");
    assert_eq!(found.value("title"), Some("Quarterly report & outlook"));
    assert_eq!(found.value("author"), Some("Ada Lovelace"));
    assert_eq!(found.value("description"), Some("Figures of the third quarter"));
    assert_eq!(found.value("lang"), Some("en"));
    assert_eq!(found.value("charset"), Some("utf-8"));
}

#[test]
fn stated_charset_is_used_unless_the_content_is_utf8() {
    let legacy = b"<html><meta charset=iso-8859-2><p>P\xf8\xedli\xb9 \xbelu\xbb";
    assert_eq!(read_bytes("a.html", legacy).text(), "Příliš žluť\n");
    let lying = "<html><meta charset=iso-8859-1><p>größer".as_bytes();
    assert_eq!(read_bytes("a.html", lying).text(), "größer\n");
    let wide: Vec<u8> = "<html><p>größer".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_bytes("a.html", &wide).text(), "größer\n");
}

#[test]
fn deeply_nested_markup_is_read_without_overflow() {
    let deep = format!("<html>{}core{}", "<div><b><table><tr><td>".repeat(100_000), "</div>".repeat(100_000));
    assert_eq!(text_of(&deep), "core\n");
}

#[test]
fn name_alone_does_not_make_html() {
    let found = read_bytes("a.html", b"no markup here at all");
    assert!(found.pages()[0].reason.starts_with("plain text"));
}
