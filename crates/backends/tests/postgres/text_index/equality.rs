//! The same hits as the embedded index, for the same documents and the same words typed.

use docmill_backends::search::TantivyIndex;
use docmill_backends::search::postgres::{Options, PostgresIndex};
use docmill_core::id::DocumentId;
use docmill_core::ports::TextIndex;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};
use docmill_testkit::conformance::{Bench, Case};

use super::{BERT, ask, document};
use crate::Database;

pub(super) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![hits_are_those_of_the_embedded_index, best_hits_are_those_of_the_embedded_index]
}

/// A made-up pile: letters, invoices, code, scripts with and without spaces, and things too long for a row.
fn corpus() -> Vec<IndexedDocument> {
    let texts = [
        "Annual report of the Town Library. The report covers 2023 and 2024.",
        "Report: annual meeting. Reports of all branches follow.",
        "Invoice 4711: 3 apples, 2 pears. Total 12.50 EUR. Thank you!",
        "Invoices are due within 30 days; see invoice 4711.",
        "Rechnung über Äpfel und Birnen. Größe: XL. Straße 5, Köln.",
        "grosse strasse in koeln, fuer cafe und resume",
        "Un café, s'il vous plaît. Le résumé de l'été à l'Œuvre.",
        "write to foo@bar.com about C++ and O'Brien's file_name.pdf (50% off)",
        "foo bar com",
        "https://example.org/path?q=1&r=2#frag and 10.0.0.1",
        "私は東京都に住んでいます。京都も好きです。",
        "東の京と西の都",
        "我们在北京开会,讨论年度报告",
        "대한민국의 수도는 서울입니다",
        "ภาษาไทยไม่มีการเว้นวรรค",
        "契約書PDF版 annual report 東京",
        "Привет, МИР! Отчёт за год.",
        "ΟΔΟΣ και οδός",
        "fi\u{301}n ﬁn İstanbul Donau\u{ad}dampfschiff",
        "to be or not to be, that is the question",
        "the the the the",
        "a b a b a c",
        "",
        "... --- !!!",
    ];
    let mut documents: Vec<IndexedDocument> = (1..).zip(texts).map(|(n, text)| document(n, text)).collect();
    documents[0].title = Some("Annual Report 2024".into());
    documents[0].name = "annual-report_2024.PDF".into();
    documents[0].media_type = Some("application/pdf".into());
    documents[1].title = Some("Meeting (annual)".into());
    documents[2].media_type = Some("text/plain".into());
    documents[3].name = "Invoice 4711.txt".into();
    documents[3].media_type = Some("text/plain".into());
    documents[10].title = Some("東京の話".into());
    documents[10].name = "東京都.txt".into();
    let words: Vec<String> = (0..20_000).map(|n| format!("w{}", n % 9_000)).collect();
    let long = format!("annual {} report of the end invoice {}", words.join(" "), "again ".repeat(700));
    documents.push(IndexedDocument { title: Some("Long invoice".into()), ..document(90, &long) });
    let numbers: Vec<String> = (0..90_000).map(|n| format!("z{n}")).collect();
    documents.push(document(
        91,
        &format!("{} annual report 東京 {}", numbers[..45_000].join(" "), numbers[45_000..].join(" ")),
    ));
    documents.push(document(92, &"年度报告在东京".repeat(3_000)));
    documents
        .push(IndexedDocument { tenant_id: BERT, ..document(99, "annual report of somebody else 東京") });
    documents
}

/// What people type, and what they should not.
const QUERIES: &[&str] = &[
    "annual",
    "report",
    "annual report",
    "report annual",
    "\"annual report\"",
    "\"report annual\"",
    "\"annual report 2024\"",
    "annual OR invoice",
    "annual OR invoice report",
    "invoice 4711",
    "\"invoice 4711\"",
    "invoice -4711",
    "-invoice",
    "-\"annual report\"",
    "annual -\"annual report\"",
    "\"annual report\" OR \"invoice 4711\"",
    "\"annual rep\"*",
    "rep*",
    "invoi*",
    "inv* -invoices",
    "name:annual",
    "name:\"annual report\"",
    "title:annual",
    "title:\"annual report\"",
    "name:invoi*",
    "type:pdf",
    "type:plain -invoices",
    "type:text/plain",
    "type:\"plain text\"",
    "-type:pdf annual",
    "title:東京",
    "name:東京都",
    "東京",
    "京都",
    "東",
    "京",
    "北京",
    "\"北京 开会\"",
    "年度报告",
    "报告年度",
    "东京年度",
    "서울",
    "대한민국",
    "민국",
    "ภาษา",
    "ไทย",
    "契約書pdf",
    "契約書PDF版 annual",
    "東京 annual",
    "東京*",
    "東京 -title:東京",
    "größe",
    "GROSSE",
    "straße",
    "strasse",
    "koeln",
    "köln",
    "café",
    "cafe",
    "été",
    "oeuvre",
    "résumé",
    "fin",
    "ﬁn",
    "istanbul",
    "donaudampfschiff",
    "привет мир",
    "отчёт",
    "отчет",
    "οδος",
    "οδός",
    "foo@bar.com",
    "\"foo bar\"",
    "foo bar",
    "C++",
    "c",
    "O'Brien",
    "obrien",
    "file_name.pdf",
    "50%",
    "https://example.org/path?q=1",
    "10.0.0.1",
    "\"10 0 0\"",
    "to be or not to be",
    "\"to be or not to be\"",
    "\"not to be to\"",
    "the",
    "\"the the\"",
    "\"the the the the\"",
    "\"the the the the the\"",
    "\"a b a c\"",
    "\"a c a\"",
    "again",
    "\"again again\"",
    "w0",
    "w8999",
    "w8999 w0 end",
    "\"w8999 w0\"",
    "\"report of the end\"",
    "\"w1999 report\"",
    "z0 z89999",
    "z44999 z45000",
    "\"z44999 annual\"",
    "\"東京 z45000\"",
    "z0 -z89999",
    "z4500*",
    "z4500* -z89999",
    "annual z0 OR w0",
    "\"z1 z2\" OR \"w1 w2\"",
    "-w0 -z0 annual",
    "-the -annual -invoice -東",
    "NOT report annual",
    "annual AND report",
    "annual NOT \"town library\"",
    "' OR 1=1 --",
    "a' | b & !c",
    "w0:*",
    "'w0':*A",
    "<->",
    "a <-> b",
    "!annual",
    "(annual | invoice)",
    "\\'annual\\'",
    "$1 annual",
    "annual%",
    "annual\0report",
    "title:\"\"annual",
    "\"annual",
    "****annual",
    "invoice;DROP TABLE",
    "nothing",
];

async fn both(bench: &Bench<Database>) -> (tempfile::TempDir, Vec<Box<dyn TextIndex>>) {
    let database = bench.open().await;
    let dir = tempfile::tempdir().unwrap();
    let indexes: Vec<Box<dyn TextIndex>> = vec![
        Box::new(TantivyIndex::open(dir.path()).unwrap()),
        Box::new(PostgresIndex::open(&database.url, Options::default()).await.unwrap()),
    ];
    for index in &indexes {
        let changes = corpus().into_iter().map(IndexChange::Put).collect();
        assert!(index.apply(changes, 0, 1).await.unwrap());
    }
    (dir, indexes)
}

async fn answer(
    index: &dyn TextIndex,
    query: TextQuery,
) -> Result<(Vec<u128>, Vec<String>), docmill_core::ErrorKind> {
    let found = index.query(query).await.map_err(|e| e.kind())?;
    assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
    assert!(found.hits.iter().all(|hit| hit.score.is_finite() && hit.score >= 0.0));
    Ok((found.hits.iter().map(|hit| hit.document_id.0.as_u128()).collect(), found.words))
}

async fn hits_are_those_of_the_embedded_index(bench: Bench<Database>) {
    let (_dir, indexes) = both(&bench).await;
    let mut found_something = 0;
    for query in QUERIES {
        for filters in [vec![], vec![("type".to_owned(), "text/plain".to_owned())]] {
            let mut answers = Vec::new();
            for index in &indexes {
                let mut answer = answer(&**index, TextQuery { filters: filters.clone(), ..ask(query) }).await;
                if let Ok((hits, _)) = &mut answer {
                    hits.sort_unstable();
                }
                answers.push(answer);
            }
            found_something += usize::from(answers[0].as_ref().is_ok_and(|(hits, _)| !hits.is_empty()));
            assert_eq!(answers[0], answers[1], "{query:?} {filters:?}");
        }
    }
    assert!(found_something > QUERIES.len() / 2, "only {found_something} queries found anything");
}

async fn best_hits_are_those_of_the_embedded_index(bench: Bench<Database>) {
    let (_dir, indexes) = both(&bench).await;
    for query in [
        "annual report",
        "invoice",
        "invoice 4711",
        "東京",
        "\"annual report\"",
        "to be",
        "cafe",
        "again",
        "title:annual OR 4711",
    ] {
        let mut answers = Vec::new();
        for index in &indexes {
            let (hits, _) = answer(&**index, ask(query)).await.unwrap();
            answers.push(DocumentId(uuid::Uuid::from_u128(hits[0])));
        }
        assert_eq!(answers[0], answers[1], "{query}");
    }
}
