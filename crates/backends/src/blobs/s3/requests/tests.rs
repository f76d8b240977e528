//! Against a server that says what a script tells it to: real ones do not lie on demand.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use docmill_core::config::BlobSettings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// What was asked, as far as it matters.
type Asked = Arc<Mutex<Vec<String>>>;

/// A server that gives these answers, one a connection, and notes what it is asked.
async fn server(answers: &[&str]) -> (Requests, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let asked = Asked::default();
    let mut answers: VecDeque<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    tokio::spawn({
        let asked = Arc::clone(&asked);
        async move {
            while let Some(answer) = answers.pop_front() {
                let (mut client, _) = listener.accept().await.unwrap();
                let head = request(&mut client).await;
                asked.lock().unwrap().push(head);
                client.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    });
    let pairs = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let variables = CloudVariables::of(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())));
    let settings = BlobSettings { variables, ..BlobSettings::default() };
    let address = Address::new("//bucket/folder", &settings).unwrap();
    let timing = Timing { connect: Duration::from_secs(5), silence: Duration::from_secs(10) };
    (Requests::new(address, &settings.variables, timing).unwrap(), asked)
}

/// Reads one request to its end; gives its first line and what docmill adds to it.
async fn request(client: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let head = loop {
        let mut piece = vec![0; 64 * 1024];
        let read = client.read(&mut piece).await.unwrap();
        assert!(read > 0, "the request broke off");
        all.extend_from_slice(&piece[..read]);
        let Some(end) = all.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        let length: usize = header(&head, "content-length").map_or(0, |value| value.parse().unwrap());
        if all.len() >= end + 4 + length {
            break head;
        }
    };
    let first = head.lines().next().unwrap().replace(" HTTP/1.1", "");
    let names = ["if-none-match", "if-match", "range", "x-amz-mp-object-size", "x-amz-copy-source-range"];
    let extra = names.iter().filter_map(|name| Some(format!("{name}: {}", header(&head, name)?)));
    std::iter::once(first).chain(extra).collect::<Vec<_>>().join(", ")
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

fn head(bytes: u64) -> String {
    let date = "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
    format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {bytes}\r\nETag: \"x\"\r\n{date}\r\n")
}

fn part(range: &str, total: u64, body: &str) -> String {
    answer("206 Partial Content", &format!("Content-Range: bytes {range}/{total}\r\nETag: \"x\"\r\n"), body)
}

fn asked(asked: &Asked) -> Vec<String> {
    asked.lock().unwrap().clone()
}

const HELLO: &str = "ETag: \"5d41402abc4b2a76b9719d911017c592\"\r\n";
const OTHER: &str = "ETag: \"0123456789abcdef0123456789abcdef\"\r\n";

async fn put_hello(requests: &Requests) -> Result<Put> {
    requests.put("folder/x", PutPayload::from_static(b"hello")).await
}

#[tokio::test]
async fn put_says_only_where_nothing_is_and_believes_a_right_etag() {
    let (requests, log) = server(&[&answer("200 OK", HELLO, "")]).await;
    assert_eq!(put_hello(&requests).await.unwrap(), Put::Created);
    assert_eq!(asked(&log), ["PUT /bucket/folder/x, if-none-match: *"]);
}

#[tokio::test]
async fn put_whose_blob_has_another_length_is_taken_back() {
    let (requests, log) =
        server(&[&answer("200 OK", OTHER, ""), &head(4), &answer("204 No Content", "", "")]).await;
    let error = put_hello(&requests).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().starts_with("4 bytes of blob `folder/x`"), "{error}");
    assert_eq!(asked(&log)[1..], ["HEAD /bucket/folder/x", "DELETE /bucket/folder/x"]);
}

#[tokio::test]
async fn put_whose_blob_has_other_bytes_is_taken_back() {
    let (requests, log) = server(&[
        &answer("200 OK", OTHER, ""),
        &head(5),
        &part("0-4", 5, "jello"),
        &answer("204 No Content", "", ""),
    ])
    .await;
    let error = put_hello(&requests).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("other bytes"), "{error}");
    assert_eq!(asked(&log)[3], "DELETE /bucket/folder/x");
}

#[tokio::test]
async fn etag_that_is_no_digest_is_read_back_once_and_then_only_measured() {
    let (requests, log) = server(&[
        &answer("200 OK", OTHER, ""),
        &head(5),
        &part("0-4", 5, "hello"),
        &answer("200 OK", OTHER, ""),
        &head(5),
    ])
    .await;
    assert_eq!(put_hello(&requests).await.unwrap(), Put::Created);
    assert_eq!(put_hello(&requests).await.unwrap(), Put::Created);
    let log = asked(&log);
    assert_eq!(
        log[..3],
        [
            "PUT /bucket/folder/x, if-none-match: *",
            "HEAD /bucket/folder/x",
            "GET /bucket/folder/x, range: bytes=0-4"
        ]
    );
    assert_eq!(log[3..], ["PUT /bucket/folder/x, if-none-match: *", "HEAD /bucket/folder/x"]);
}

#[tokio::test]
async fn put_to_a_taken_key_existed_and_one_in_dispute_may_be_repeated() {
    let disputed = "<Error><Code>ConditionalRequestConflict</Code></Error>";
    let (requests, _) =
        server(&[&answer("412 Precondition Failed", "", ""), &answer("409 Conflict", "", disputed)]).await;
    assert_eq!(put_hello(&requests).await.unwrap(), Put::Existed);
    assert_eq!(put_hello(&requests).await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn body_that_ends_early_is_no_content() {
    let short = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\nETag: \"x\"\r\n\r\nhello";
    let (requests, _) = server(&[short]).await;
    let download = requests.get("folder/x").await.unwrap();
    assert_eq!(download.bytes, 10);
    let error = requests.all("folder/x", download.body, download.bytes).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
}

#[tokio::test]
async fn range_that_is_not_the_one_asked_for_is_refused() {
    let (requests, _) = server(&[&part("0-3", 5, "hell"), &answer("200 OK", HELLO, "hello")]).await;
    for _ in 0..2 {
        let error = requests.get_range("folder/x", 1..5, None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    }
}

#[tokio::test]
async fn end_of_an_upload_tells_its_length_and_looks_at_it() {
    let ended = "\n\n<?xml version=\"1.0\"?><CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>";
    let (requests, log) = server(&[&answer("200 OK", "", ended), &head(7)]).await;
    let etags = ["\"a\"".to_owned(), "\"b\"".to_owned()];
    assert_eq!(requests.end("folder/x", "id/1", &etags, 7).await.unwrap(), Put::Created);
    let expected = "POST /bucket/folder/x?uploadId=id%2F1, if-none-match: *, x-amz-mp-object-size: 7";
    assert_eq!(asked(&log), [expected, "HEAD /bucket/folder/x"]);
}

#[tokio::test]
async fn end_that_fails_under_a_good_status_has_failed() {
    let failed = "  <Error><Code>InternalError</Code><Message>try again</Message></Error>";
    let (requests, _) = server(&[&answer("200 OK", "", failed)]).await;
    let error = requests.end("folder/x", "id", &["a".to_owned()], 7).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
}

#[tokio::test]
async fn end_whose_blob_has_another_length_is_taken_back() {
    let (requests, log) =
        server(&[&answer("200 OK", "", "<x/>"), &head(6), &answer("204 No Content", "", "")]).await;
    assert!(requests.end("folder/x", "id", &["a".to_owned()], 7).await.is_err());
    assert_eq!(asked(&log)[2], "DELETE /bucket/folder/x");
}

#[tokio::test]
async fn unfinished_uploads_are_listed_page_by_page() {
    let upload = |key: &str| {
        format!(
            "<Upload><Key>{key}</Key><UploadId>u</UploadId><Initiated>2026-01-01T00:00:00.000Z</Initiated></Upload>"
        )
    };
    let first = format!(
        "<R><IsTruncated>true</IsTruncated><NextKeyMarker>folder/a</NextKeyMarker>\
         <NextUploadIdMarker>u+1</NextUploadIdMarker>{}{}</R>",
        upload("folder/0"),
        upload("folder/a")
    );
    let last = format!("<R><IsTruncated>false</IsTruncated>{}</R>", upload("folder/b"));
    let (requests, log) = server(&[&answer("200 OK", "", &first), &answer("200 OK", "", &last)]).await;
    let found = requests.unfinished().await.unwrap();
    assert_eq!(
        found.iter().map(|u| u.key.as_str()).collect::<Vec<_>>(),
        ["folder/0", "folder/a", "folder/b"]
    );
    assert_eq!(found[0].initiated, Timestamp(1_767_225_600_000));
    let next = "GET /bucket?uploads=&prefix=folder%2F&key-marker=folder%2Fa&upload-id-marker=u%2B1";
    assert_eq!(asked(&log), ["GET /bucket?uploads=&prefix=folder%2F", next]);
}

#[tokio::test]
async fn part_is_copied_with_its_range() {
    let copied = "<CopyPartResult><ETag>&quot;e&quot;</ETag></CopyPartResult>";
    let (requests, log) = server(&[&answer("200 OK", "", copied)]).await;
    let etag = requests.copy(("folder/a", Some("\"x\"")), "folder/b", "id", 2, 10..30).await.unwrap();
    assert_eq!(etag, "\"e\"");
    let expected = "PUT /bucket/folder/b?partNumber=2&uploadId=id, x-amz-copy-source-range: bytes=10-29";
    assert_eq!(asked(&log), [expected]);
}
