use crate::tests_support::read_fixture;

#[test]
fn slides_are_pages_in_the_order_they_are_shown() {
    let found = read_fixture("pptx/slides.pptx");
    let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Shown first\nDucks\n\tWild\n2019\t12\n2020\t13\n\nNotes:\nSay hello\n",
            "(hidden slide)\nShown second\na\tb\n",
        ]
    );
    assert!(found.warnings().is_empty(), "{:?}", found.warnings());
}
