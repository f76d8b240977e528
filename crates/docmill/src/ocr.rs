//! What there is to recognise text with: Tesseract and its models, as installed on this machine.
//!
//! Only looked for here; loading is the business of a sandboxed child. docmill works without any of it and says
//! what is off.

use std::path::{Path, PathBuf};

use docmill_core::config::OcrSettings;
use docmill_core::ocr::OcrEngine;
use docmill_core::wire::Layer;
use docmill_core::{Error, Result};

use crate::models::PPOCR;

/// The one version whose interface is spoken.
const LIBRARY: &str = "libtesseract.so.5";

const LIBRARY_FOLDERS: &[&str] = &[
    #[cfg(target_arch = "x86_64")]
    "/usr/lib/x86_64-linux-gnu",
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/lib64",
];

const MODEL_FOLDERS: &[&str] = &[
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/share/tesseract/tessdata",
    "/usr/local/share/tessdata",
];

/// Tesseract as it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    library: PathBuf,
    models: PathBuf,
    languages: Vec<String>,
    /// The folder of the second engine's models, if they are there.
    ppocr: Option<PathBuf>,
    /// What was wanted and is not installed.
    pub(crate) missing: Vec<Layer>,
    /// Everything about it that text depends on.
    pub(crate) identity: String,
}

impl Found {
    /// The arguments of a child that loads it.
    pub(crate) fn arguments(&self, threshold: f64) -> Vec<String> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let second = self.ppocr.iter().flat_map(|folder| ["--ppocr".to_owned(), path(folder)]);
        let first = [
            ["--library".to_owned(), path(&self.library)],
            ["--tessdata".to_owned(), path(&self.models)],
            ["--languages".to_owned(), self.languages.join("+")],
            ["--threshold".to_owned(), threshold.to_string()],
        ];
        first.into_iter().flatten().chain(second).collect()
    }
}

/// Looks for Tesseract; the error says what is missing and how to get it.
pub(crate) fn find(settings: &OcrSettings, data: &Path) -> Result<Found> {
    if settings.engine == OcrEngine::Off {
        return Err(Error::missing_dependency("`ocr.engine` is `off`")
            .with_hint("`auto` is the setting that recognises text"));
    }
    for name in &settings.languages {
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !plain {
            return Err(Error::invalid_config(format!("`{name}` in `ocr.languages` is no name of a model"))
                .with_hint("models are named like `eng`, `deu` or `chi_sim`"));
        }
    }
    let library = library(settings)?;
    let models = models(settings)?;
    let (mut languages, mut absent) = (Vec::new(), Vec::new());
    let mut identity = real_name(&library);
    for name in &settings.languages {
        match model_bytes(&models, name) {
            Some(bytes) => {
                identity.push_str(&format!(" {name}:{bytes}"));
                languages.push(name.clone());
            }
            None => absent.push(name.clone()),
        }
    }
    if languages.is_empty() {
        let names = settings.languages.join("`, `");
        return Err(Error::missing_dependency(format!("no model for `{names}` in `{}`", models.display()))
            .with_hint(format!("apt-get install {}", packages(&absent))));
    }
    if let Some(bytes) = model_bytes(&models, "osd") {
        identity.push_str(&format!(" osd:{bytes}"));
    }
    let missing = if absent.is_empty() {
        Vec::new()
    } else {
        let detail =
            format!("no model for `{}` (apt-get install {})", absent.join("`, `"), packages(&absent));
        vec![Layer { name: "languages".into(), active: false, detail }]
    };
    let ppocr = if settings.engine == OcrEngine::Tesseract { None } else { PPOCR.find(data) };
    if ppocr.is_some() {
        identity.push_str(&format!(" {}", PPOCR.name));
    }
    Ok(Found { library, models, languages, ppocr, missing, identity })
}

/// The Debian packages of languages.
fn packages(languages: &[String]) -> String {
    let names: Vec<String> = languages
        .iter()
        .map(|name| format!("tesseract-ocr-{}", name.replace('_', "-").to_lowercase()))
        .collect();
    names.join(" ")
}

fn library(settings: &OcrSettings) -> Result<PathBuf> {
    let candidates: Vec<PathBuf> = if settings.library.as_os_str().is_empty() {
        LIBRARY_FOLDERS.iter().map(|folder| Path::new(folder).join(LIBRARY)).collect()
    } else {
        vec![settings.library.clone()]
    };
    first(candidates).ok_or_else(|| {
        Error::missing_dependency(format!("`{LIBRARY}` is not installed"))
            .with_hint("apt-get install libtesseract5 tesseract-ocr-eng tesseract-ocr-osd")
    })
}

fn models(settings: &OcrSettings) -> Result<PathBuf> {
    let candidates: Vec<PathBuf> = if settings.tessdata.as_os_str().is_empty() {
        MODEL_FOLDERS.iter().map(PathBuf::from).collect()
    } else {
        vec![settings.tessdata.clone()]
    };
    first(candidates).ok_or_else(|| {
        Error::missing_dependency("no folder with models for Tesseract")
            .with_hint("apt-get install tesseract-ocr-eng tesseract-ocr-osd, or set `ocr.tessdata`")
    })
}

fn first(candidates: Vec<PathBuf>) -> Option<PathBuf> {
    candidates.into_iter().find(|path| path.try_exists().unwrap_or(false))
}

/// The name of the file behind the links, which has the whole version in it.
fn real_name(library: &Path) -> String {
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    real.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn model_bytes(folder: &Path, name: &str) -> Option<u64> {
    std::fs::metadata(folder.join(format!("{name}.traineddata"))).ok().map(|metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(models: &[&str]) -> (tempfile::TempDir, OcrSettings) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libtesseract.so.5.0.2"), "x").unwrap();
        for model in models {
            std::fs::write(folder.path().join(format!("{model}.traineddata")), model).unwrap();
        }
        let settings = OcrSettings {
            library: folder.path().join("libtesseract.so.5.0.2"),
            tessdata: folder.path().to_owned(),
            ..OcrSettings::default()
        };
        (folder, settings)
    }

    #[test]
    fn find_names_what_is_installed_and_what_is_not() {
        let (_folder, settings) = installed(&["eng", "osd"]);
        let settings = OcrSettings { languages: vec!["eng".into(), "chi_sim".into()], ..settings };
        let found = find(&settings, Path::new("/nowhere")).unwrap();
        assert_eq!(found.identity, "libtesseract.so.5.0.2 eng:3 osd:3");
        assert!(found.missing[0].detail.contains("apt-get install tesseract-ocr-chi-sim"));
    }

    #[test]
    fn find_without_library_or_model_says_how_to_get_it() {
        let (_folder, settings) = installed(&[]);
        assert_eq!(
            find(&settings, Path::new("/nowhere")).unwrap_err().hint(),
            Some("apt-get install tesseract-ocr-eng")
        );
        let nowhere = OcrSettings { library: "/nowhere/libtesseract.so.5".into(), ..settings };
        assert!(find(&nowhere, Path::new("/nowhere")).unwrap_err().hint().unwrap().contains("libtesseract5"));
    }

    #[test]
    fn find_finds_nothing_where_it_is_switched_off() {
        let (_folder, settings) = installed(&["eng"]);
        let off = OcrSettings { engine: OcrEngine::Off, ..settings };
        assert!(find(&off, Path::new("/nowhere")).unwrap_err().message().contains("`ocr.engine` is `off`"));
    }

    #[test]
    fn find_refuses_a_language_that_is_a_path() {
        let (_folder, settings) = installed(&["eng"]);
        let settings = OcrSettings { languages: vec!["../eng".into()], ..settings };
        assert!(find(&settings, Path::new("/nowhere")).unwrap_err().message().contains("../eng"));
    }
}
