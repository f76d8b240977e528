//! Character sets of machines before Windows and the web: the code pages of DOS, which consoles and "CSV (MS-DOS)" still
//! write, as tables of their upper halves. (`encoding_rs` knows that of the Macintosh, and 866.)

/// A set of one byte a character whose lower half is ASCII.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Table {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The characters of the bytes from 128, in order.
    upper: &'static str,
    /// Other names and numbers of it.
    labels: &'static [&'static str],
}

/// The first set of DOS, and the one of the ZIP specification.
pub(crate) static CP437: Table = Table {
    name: "cp437",
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    labels: &["437", "ibm437", "cspc8codepage437"],
};

/// Western Europe.
pub(crate) static CP850: Table = Table {
    name: "cp850",
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    labels: &["850", "ibm850", "cspc850multilingual"],
};

/// Western Europe with the euro.
pub(crate) static CP858: Table = Table {
    name: "cp858",
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    labels: &["858", "ibm00858", "ibm858", "cp00858"],
};

/// Central Europe.
pub(crate) static CP852: Table = Table {
    name: "cp852",
    upper: "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}",
    labels: &["852", "ibm852", "cspcp852"],
};

static ALL: &[&Table] = &[&CP437, &CP850, &CP858, &CP852];

impl Table {
    /// The set that a label names.
    pub(crate) fn from_label(label: &str) -> Option<&'static Self> {
        let label = label.trim().to_ascii_lowercase();
        ALL.iter().copied().find(|table| table.name == label || table.labels.contains(&label.as_str()))
    }

    /// Appends what `bytes` mean.
    pub(crate) fn decode(&self, bytes: &[u8], out: &mut String) {
        let upper: Vec<char> = self.upper.chars().collect();
        out.extend(bytes.iter().map(|&byte| match byte.checked_sub(128) {
            None => char::from(byte),
            Some(above) => upper.get(usize::from(above)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole_and_no_label_names_two() {
        let mut labels = std::collections::BTreeSet::new();
        for table in ALL {
            assert_eq!(table.upper.chars().count(), 128, "{}", table.name);
            for label in table.labels.iter().chain([&table.name]) {
                assert!(labels.insert(label), "{label}");
                assert_eq!(Table::from_label(&label.to_uppercase()), Some(*table));
            }
        }
    }
}
