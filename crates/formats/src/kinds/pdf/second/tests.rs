use super::*;

#[test]
fn units_become_lines_without_carriage_returns_and_with_pairs_joined() {
    let units: Vec<u32> = "One  \r\ntwo \u{1f600}\r\n".encode_utf16().map(u32::from).collect();
    assert_eq!(text(&units), "One\ntwo \u{1f600}\n");
    assert_eq!(text(&[0xd83d, u32::from('x'), 0xdc00, 0]), "x\n");
    assert_eq!(text(&[]), "");
}

#[test]
fn hyphen_at_the_end_of_a_line_stays_one() {
    let units: Vec<u32> = "exam\u{2}ple".chars().map(u32::from).collect();
    assert_eq!(text(&units), "exam-\nple\n");
}

#[test]
fn file_that_is_no_library_is_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = load(file.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingDependency);
    assert!(error.message().contains("cannot load"), "{error}");
}
