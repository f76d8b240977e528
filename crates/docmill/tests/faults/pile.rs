//! What is brought in: texts, copies of some of them, and boxes with a box in each.

use docmill_testkit::archive::archive;

use crate::support::Mill;

/// Files in a box: half of them in its inner box.
const IN_A_BOX: usize = 60;

/// Texts that share a word: a search answers with a thousand hits at most.
const OF_A_WORD: usize = 500;

/// A third of the files in boxes, the rest beside them; every fiftieth is a copy of the one before.
pub(crate) fn fill(mill: &Mill, files: usize) {
    let boxes = (files / 3 / IN_A_BOX).max(1);
    let beside = files.saturating_sub(boxes * IN_A_BOX);
    for n in 0..beside {
        let (name, of) =
            if n % 50 == 49 { (format!("copy-of-{}", n - 1), n - 1) } else { (n.to_string(), n) };
        let text = format!("letter {of} is of {}, {}", word(of), "far away ".repeat(of % 50));
        mill.write(format!("{}/{name}.txt", n % 20), text);
    }
    for b in 0..boxes {
        let text =
            |n: usize| format!("member {n} of box {b}, {} {}", word_of_box(b), "lies there ".repeat(n));
        let members: Vec<_> = (0..IN_A_BOX).map(|n| (format!("m/{n}.txt"), text(n))).collect();
        let (inside, outside) = members.split_at(IN_A_BOX / 2);
        let named = |(name, text): &(String, String)| (name.clone(), text.clone().into_bytes());
        let inner: Vec<_> = inside.iter().map(named).collect();
        let inner = archive(inner.iter().map(|(name, text)| (name.as_str(), text.as_slice())));
        let mut all: Vec<(String, Vec<u8>)> = vec![("inner.zip".to_owned(), inner)];
        all.extend(outside.iter().map(named));
        let all = archive(all.iter().map(|(name, content)| (name.as_str(), content.as_slice())));
        mill.write(format!("box-{b}.zip"), all);
    }
}

fn word(n: usize) -> String {
    format!("harbour{}", n / OF_A_WORD)
}

fn word_of_box(b: usize) -> String {
    format!("chest{}", b * IN_A_BOX / OF_A_WORD)
}

/// Words that together find every text.
pub(crate) fn words(files: usize) -> Vec<String> {
    let all = 0..=files / OF_A_WORD;
    all.clone().map(|n| format!("harbour{n}")).chain(all.map(|n| format!("chest{n}"))).collect()
}
