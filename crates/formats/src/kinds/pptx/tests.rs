use crate::tests_support::{package_of, read_bytes, read_fixture};

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

#[test]
fn what_stands_on_every_slide_is_told_once_and_places_to_fill_are_not() {
    let shape = |place: &str, text: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        )
    };
    let relation = |kind: &str, target: &str| {
        format!("<Relationships><Relationship Id='r1' Type='x/{kind}' Target='{target}'/></Relationships>")
    };
    let slides = ["one", "two"].map(|text| format!("<p:sld>{}</p:sld>", shape("<p:ph/>", text)));
    let layout = format!("<p:sldLayout>{}</p:sldLayout>", shape("<p:ph type='title'/>", "Click to edit"));
    let master = format!("<p:sldMaster>{}</p:sldMaster>", shape("", "Confidential"));
    let (to_layout, to_master) =
        (relation("slideLayout", "../slideLayouts/l.xml"), relation("slideMaster", "../slideMasters/m.xml"));
    let parts: [(&str, &[u8]); 9] = [
        ("[Content_Types].xml", b"<Types/>"),
        ("ppt/presentation.xml", b"<p:presentation/>"),
        ("ppt/slides/slide1.xml", slides[0].as_bytes()),
        ("ppt/slides/slide2.xml", slides[1].as_bytes()),
        ("ppt/slides/_rels/slide1.xml.rels", to_layout.as_bytes()),
        ("ppt/slides/_rels/slide2.xml.rels", to_layout.as_bytes()),
        ("ppt/slideLayouts/l.xml", layout.as_bytes()),
        ("ppt/slideLayouts/_rels/l.xml.rels", to_master.as_bytes()),
        ("ppt/slideMasters/m.xml", master.as_bytes()),
    ];
    let found = read_bytes("a.pptx", &package_of(&parts));
    let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
    assert_eq!(texts, ["one\nConfidential\n", "two\n"]);
}
