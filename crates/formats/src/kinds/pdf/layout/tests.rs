use super::super::letters::Letters;
use super::*;

/// Letters of width 5 and height 10, from `x` on the baseline `y`; a blank only moves on.
fn word(text: &str, x: f64, y: f64) -> Vec<Placed> {
    spaced_word(text, x, y, 5.0)
}

/// The same with letters that begin `step` after each other.
fn spaced_word(text: &str, x: f64, y: f64, step: f64) -> Vec<Placed> {
    text.chars()
        .enumerate()
        .map(|(i, c)| {
            let from = x + step * i as f64;
            let letters = Letters::One(c);
            let rtl = direction::is_rtl(&letters);
            Placed {
                letters,
                from,
                to: from + 5.0,
                base: y,
                size: 10.0,
                spaced: false,
                drawn: 0,
                rtl,
                body: Rect::ZERO,
            }
        })
        .collect()
}

fn laid_out(words: Vec<Vec<Placed>>) -> String {
    laid_out_along(words, &[])
}

fn laid_out_along(words: Vec<Vec<Placed>>, articles: &[Rect]) -> String {
    let mut glyphs: Vec<Placed> = words.into_iter().flatten().collect();
    for (drawn, glyph) in glyphs.iter_mut().enumerate() {
        glyph.drawn = drawn;
    }
    let mut out = String::new();
    write(&lines(chunks(glyphs)), articles, &mut out);
    out
}

#[test]
fn words_are_ordered_by_place_not_by_drawing() {
    let words = vec![word("world", 35.0, 12.0), word("below", 0.0, 24.0), word("hello", 0.0, 12.0)];
    assert_eq!(laid_out(words), "hello world\nbelow\n");
}

#[test]
fn letters_drawn_twice_for_boldness_are_read_once() {
    assert_eq!(laid_out(vec![word("bold", 0.0, 12.0), word("bold", 0.4, 12.0)]), "bold\n");
    assert_eq!(laid_out(vec![word("aa", 0.0, 12.0)]), "aa\n");
}

#[test]
fn distant_lines_are_paragraphs() {
    assert_eq!(laid_out(vec![word("a", 0.0, 12.0), word("b", 0.0, 60.0)]), "a\n\nb\n");
}

#[test]
fn superscript_stays_on_its_line() {
    let mut raised = word("2", 10.0, 6.0);
    raised[0].size = 6.0;
    assert_eq!(laid_out(vec![word("mc", 0.0, 12.0), raised]), "mc2\n");
}

#[test]
fn letters_kerned_over_each_other_keep_the_order_of_drawing() {
    let mut tight = word("AV", 0.0, 12.0);
    tight[1].from = -0.5;
    assert_eq!(laid_out(vec![tight]), "AV\n");
}

#[test]
fn letters_filled_in_later_find_their_place() {
    let mut gap = word("H llo", 0.0, 12.0);
    gap.remove(1);
    assert_eq!(laid_out(vec![gap, word("e", 5.0, 12.0)]), "Hello\n");
}

#[test]
fn spaced_letters_are_words() {
    assert_eq!(laid_out(vec![spaced_word("spaced", 0.0, 12.0, 7.5)]), "spaced\n");
    let two = vec![spaced_word("spaced", 0.0, 12.0, 7.5), spaced_word("letters", 49.0, 12.0, 7.5)];
    assert_eq!(laid_out(two), "spaced letters\n");
}

#[test]
fn digits_in_a_row_of_cells_stay_apart() {
    assert_eq!(laid_out(vec![spaced_word("123456", 0.0, 12.0, 8.0)]), "1 2 3 4 5 6\n");
}

#[test]
fn columns_of_prose_are_read_one_after_the_other() {
    let mut words = vec![word("a heading that goes over both of the columns", 0.0, 0.0)];
    for line in 0..5 {
        let y = 20.0 + 12.0 * f64::from(line);
        words.push(word(&format!("left side of line {line}"), 0.0, y));
        words.push(word(&format!("right side of line {line}"), 120.0, y));
    }
    let text = laid_out(words);
    let lines: Vec<_> = text.lines().filter(|l| !l.is_empty()).collect();
    assert_eq!(lines[0], "a heading that goes over both of the columns");
    assert_eq!(lines[1..6], [0, 1, 2, 3, 4].map(|n| format!("left side of line {n}")));
    assert_eq!(lines[6..], [0, 1, 2, 3, 4].map(|n| format!("right side of line {n}")));
}

#[test]
fn tables_are_read_row_by_row() {
    let words = (0..6).flat_map(|row| {
        let y = 12.0 * f64::from(row);
        [word("a long name of something", 0.0, y), word(&format!("{row}.00"), 200.0, y)]
    });
    let text = laid_out(words.collect());
    assert_eq!(text.lines().nth(3), Some("a long name of something 3.00"));
}

#[test]
fn right_to_left_writing_comes_in_the_order_of_reading() {
    // Seen from left to right: the last word first, its last letter first.
    let seen = vec![word("םלוע", 0.0, 12.0), word("42", 30.0, 12.0), word(".םולש", 50.0, 12.0)];
    assert_eq!(laid_out(seen), "שלום. 42 עולם\n");
    assert_eq!(laid_out(vec![word("ףיעס )ב(15", 0.0, 12.0)]), "15(ב) סעיף\n");
    let mixed = vec![word("say", 0.0, 12.0), word("םולש", 20.0, 12.0), word("twice", 45.0, 12.0)];
    assert_eq!(laid_out(mixed), "say שלום twice\n");
}

#[test]
fn drawing_order_is_kept_where_it_moves_on() {
    let mut words: Vec<_> =
        (0..4).map(|n| word(&format!("note {n}"), 0.0, 200.0 + 12.0 * f64::from(n))).collect();
    words.extend((0..9).map(|n| word(&format!("line {n}"), 0.0, 12.0 * f64::from(n))));
    let text = laid_out(words);
    let lines: Vec<_> = text.lines().filter(|l| !l.is_empty()).collect();
    assert_eq!(lines[..5], ["note 0", "note 1", "note 2", "note 3", "line 0"]);
}

#[test]
fn lines_drawn_at_random_are_ordered_by_place() {
    let words = [5, 2, 7, 0, 6, 1, 4, 3].map(|n| word(&format!("line {n}"), 0.0, 12.0 * f64::from(n)));
    let expected: Vec<String> = (0..8).map(|n| format!("line {n}")).collect();
    assert_eq!(laid_out(words.into()).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn table_drawn_column_by_column_is_read_row_by_row() {
    let column = |x: f64, name: &'static str| {
        (0..5).map(move |row| word(&format!("{name}{row}"), x, 12.0 * f64::from(row))).collect::<Vec<_>>()
    };
    let text = laid_out([column(0.0, "a"), column(100.0, "b")].into_iter().flatten().collect());
    assert_eq!(text.lines().nth(2), Some("a2 b2"));
}

#[test]
fn articles_are_read_in_the_order_that_the_document_names() {
    let words =
        vec![word("one", 0.0, 30.0), word("two", 100.0, 30.0), word("top", 0.0, 5.0), word("end", 0.0, 90.0)];
    let articles = [Rect::new(90.0, 20.0, 200.0, 40.0), Rect::new(0.0, 20.0, 80.0, 40.0)];
    let text = laid_out_along(words, &articles);
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["top", "two", "one", "end"]);
}
