//! Tesseract's C interface, found at run time. Beside that of pdfium the only unsafe code of this crate.
//!
//! The library is a Debian package of its own; the binary starts and works without it. What is called here is
//! declared in `tesseract/capi.h`, unchanged since version 4.

use std::ffi::{CStr, CString, c_char, c_float, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use docmill_core::{Error, Result};
use libloading::Library;

use crate::shared::grey::Grey;

/// How the page is cut into lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub(crate) enum Segmentation {
    /// Columns, paragraphs and pictures are looked for.
    Auto = 3,
    /// One block of lines, as on a receipt.
    Block = 6,
}

/// Only the neural engine; the old one is not in the usual models.
const LSTM_ONLY: c_int = 1;
/// Whatever the model has: that for orientation has the old engine alone.
const ANY_ENGINE: c_int = 3;

const LEVEL_PARAGRAPH: c_int = 1;
const LEVEL_LINE: c_int = 2;
const LEVEL_WORD: c_int = 3;

/// Recognising one page stops after this and keeps what it has; the parent's limit lies behind it.
const DEADLINE_MS: c_int = 40_000;

type Handle = *mut c_void;

macro_rules! functions {
    ($($name:ident: $symbol:literal = fn($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// The functions that are used, as found in the library.
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl Functions {
            fn find(library: &Library) -> Result<Self> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the type is that of the declaration in capi.h, and the pointer is used only
                        // while the library is loaded: `Tesseract` keeps both.
                        #[expect(unsafe_code, reason = "a symbol's type cannot be checked")]
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) $(-> $answer)?>($symbol)
                        };
                        *found.map_err(|e| {
                            Error::missing_dependency("this libtesseract lacks a function").with_source(e)
                        })?
                    },)*
                })
            }
        }
    };
}

functions! {
    version: b"TessVersion\0" = fn() -> *const c_char;
    create: b"TessBaseAPICreate\0" = fn() -> Handle;
    delete: b"TessBaseAPIDelete\0" = fn(Handle);
    init: b"TessBaseAPIInit2\0" = fn(Handle, *const c_char, *const c_char, c_int) -> c_int;
    set_segmentation: b"TessBaseAPISetPageSegMode\0" = fn(Handle, c_int);
    set_image: b"TessBaseAPISetImage\0" = fn(Handle, *const c_uchar, c_int, c_int, c_int, c_int);
    set_resolution: b"TessBaseAPISetSourceResolution\0" = fn(Handle, c_int);
    recognize: b"TessBaseAPIRecognize\0" = fn(Handle, Handle) -> c_int;
    iterator: b"TessBaseAPIGetIterator\0" = fn(Handle) -> Handle;
    detect: b"TessBaseAPIDetectOrientationScript\0" =
        fn(Handle, *mut c_int, *mut c_float, *mut *const c_char, *mut c_float) -> c_int;
    clear: b"TessBaseAPIClear\0" = fn(Handle);
    monitor: b"TessMonitorCreate\0" = fn() -> Handle;
    monitor_delete: b"TessMonitorDelete\0" = fn(Handle);
    monitor_deadline: b"TessMonitorSetDeadlineMSecs\0" = fn(Handle, c_int);
    result_delete: b"TessResultIteratorDelete\0" = fn(Handle);
    result_page: b"TessResultIteratorGetPageIterator\0" = fn(Handle) -> Handle;
    result_text: b"TessResultIteratorGetUTF8Text\0" = fn(Handle, c_int) -> *mut c_char;
    result_confidence: b"TessResultIteratorConfidence\0" = fn(Handle, c_int) -> c_float;
    result_next: b"TessResultIteratorNext\0" = fn(Handle, c_int) -> c_int;
    page_box: b"TessPageIteratorBoundingBox\0" =
        fn(Handle, c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
    page_at_start: b"TessPageIteratorIsAtBeginningOf\0" = fn(Handle, c_int) -> c_int;
    delete_text: b"TessDeleteText\0" = fn(*const c_char);
}

/// The loaded library.
pub(crate) struct Tesseract {
    functions: Functions,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Tesseract {
    /// Loads `libtesseract.so.5` from a path, or from wherever the system looks for it.
    pub(crate) fn load(path: &Path) -> Result<Arc<Self>> {
        // SAFETY: loading runs the library's initialisers. It is the system's own library, named by the
        // administrator, and nothing else of this process has begun yet.
        #[expect(unsafe_code, reason = "loading a library runs its code")]
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|e| {
            Error::missing_dependency(format!("cannot load `{}`", path.display())).with_source(e)
        })?;
        Ok(Arc::new(Self { functions: Functions::find(&library)?, _library: library }))
    }

    /// `5.3.0`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: takes nothing and returns a pointer to a constant string of the library.
        #[expect(unsafe_code, reason = "C interface")]
        let text = unsafe { CStr::from_ptr((self.functions.version)()) };
        text.to_string_lossy().into_owned()
    }
}

/// One instance of the engine with its models.
pub(crate) struct Api {
    library: Arc<Tesseract>,
    handle: NonNull<c_void>,
}

/// A word as the engine gives it.
pub(crate) struct RawWord {
    pub(crate) text: String,
    /// 0 to 100.
    pub(crate) confidence: f32,
    /// Left, top, right and bottom, in pixels of the image.
    pub(crate) edges: [i32; 4],
    pub(crate) begins_line: bool,
    pub(crate) begins_paragraph: bool,
}

impl Api {
    /// Loads the models of `languages` (`eng+deu`) from a folder.
    pub(crate) fn new(library: &Arc<Tesseract>, folder: &Path, languages: &str) -> Result<Self> {
        Self::with_engine(library, folder, languages, LSTM_ONLY)
    }

    /// Loads the model that tells which way is up.
    pub(crate) fn for_orientation(library: &Arc<Tesseract>, folder: &Path) -> Result<Self> {
        Self::with_engine(library, folder, "osd", ANY_ENGINE)
    }

    fn with_engine(library: &Arc<Tesseract>, folder: &Path, languages: &str, engine: c_int) -> Result<Self> {
        let bad_name = |e| Error::invalid_config("a name for Tesseract holds a zero byte").with_source(e);
        let folder_name = CString::new(folder.as_os_str().as_encoded_bytes()).map_err(bad_name)?;
        let language_names = CString::new(languages).map_err(bad_name)?;
        // SAFETY: takes nothing; the answer is checked below.
        #[expect(unsafe_code, reason = "C interface")]
        let handle = unsafe { (library.functions.create)() };
        let handle = NonNull::new(handle).ok_or_else(|| Error::unavailable("Tesseract could not start"))?;
        let api = Self { library: Arc::clone(library), handle };
        // SAFETY: the handle is fresh and both strings end with a zero and live through the call.
        #[expect(unsafe_code, reason = "C interface")]
        let answer = unsafe {
            (library.functions.init)(handle.as_ptr(), folder_name.as_ptr(), language_names.as_ptr(), engine)
        };
        if answer != 0 {
            return Err(Error::missing_dependency(format!(
                "Tesseract cannot load `{languages}` from `{}`",
                folder.display()
            )));
        }
        Ok(api)
    }

    /// Recognises a page, line by line. An empty list means that no text was found.
    pub(crate) fn recognise(
        &mut self,
        page: &Grey,
        dpi: Option<u32>,
        segmentation: Segmentation,
    ) -> Result<Vec<RawWord>> {
        self.show(page, dpi);
        let functions = &self.library.functions;
        let handle = self.handle.as_ptr();
        // SAFETY: the handle is alive and has its image; the monitor lives from its creation to its deletion here.
        #[expect(unsafe_code, reason = "C interface")]
        let answer = unsafe {
            (functions.set_segmentation)(handle, segmentation as c_int);
            let monitor = (functions.monitor)();
            if !monitor.is_null() {
                (functions.monitor_deadline)(monitor, DEADLINE_MS);
            }
            let answer = (functions.recognize)(handle, monitor);
            if !monitor.is_null() {
                (functions.monitor_delete)(monitor);
            }
            answer
        };
        let words = if answer == 0 { Ok(self.words()) } else { Err(Error::corrupt("Tesseract gave up")) };
        self.forget();
        words
    }

    /// By how many degrees clockwise the page must be turned to stand upright, with how sure that is; `None` if it
    /// cannot be told.
    pub(crate) fn orientation(&mut self, page: &Grey, dpi: Option<u32>) -> Option<(u32, f32)> {
        self.show(page, dpi);
        let (mut degrees, mut sure, mut script, mut script_sure) = (0, 0.0, ptr::null(), 0.0);
        // SAFETY: the handle is alive and has its image; the four results are written to variables that outlive the
        // call. The script's name belongs to the library and is not looked at.
        #[expect(unsafe_code, reason = "C interface")]
        let told = unsafe {
            (self.library.functions.detect)(
                self.handle.as_ptr(),
                &raw mut degrees,
                &raw mut sure,
                &raw mut script,
                &raw mut script_sure,
            )
        };
        self.forget();
        // It says how far the page is turned; wanted is the way back.
        (told != 0).then(|| ((360 - degrees).rem_euclid(360) as u32, sure))
    }

    fn show(&mut self, page: &Grey, dpi: Option<u32>) {
        let functions = &self.library.functions;
        let (width, height) = (page.width() as c_int, page.height() as c_int);
        // SAFETY: a `Grey` has exactly width × height bytes, one for a pixel and without gaps between rows, and the
        // library copies them before it returns.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            (functions.set_image)(self.handle.as_ptr(), page.pixels().as_ptr(), width, height, 1, width);
            // Without a number the engine estimates one from the size of the letters.
            if let Some(dpi) = dpi.filter(|dpi| (70..=2400).contains(dpi)) {
                (functions.set_resolution)(self.handle.as_ptr(), dpi as c_int);
            }
        }
    }

    /// Frees what the last page left behind.
    fn forget(&mut self) {
        // SAFETY: the handle is alive, and no iterator over its results is.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            (self.library.functions.clear)(self.handle.as_ptr());
        }
    }

    fn words(&self) -> Vec<RawWord> {
        let functions = &self.library.functions;
        let mut words = Vec::new();
        // SAFETY: the iterator is made from a handle that has results and is deleted before anything else happens to
        // that handle; the page iterator is the same object seen otherwise. Texts come from the library, end with
        // a zero, and are given back to it once. The four edges outlive the call that writes them.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            let results = (functions.iterator)(self.handle.as_ptr());
            if results.is_null() {
                return words;
            }
            let page = (functions.result_page)(results);
            loop {
                let text = (functions.result_text)(results, LEVEL_WORD);
                if !text.is_null() {
                    let mut edges = [0; 4];
                    let [left, top, right, bottom] = &mut edges;
                    (functions.page_box)(page, LEVEL_WORD, left, top, right, bottom);
                    words.push(RawWord {
                        text: CStr::from_ptr(text).to_string_lossy().into_owned(),
                        confidence: (functions.result_confidence)(results, LEVEL_WORD),
                        edges,
                        begins_line: (functions.page_at_start)(page, LEVEL_LINE) != 0,
                        begins_paragraph: (functions.page_at_start)(page, LEVEL_PARAGRAPH) != 0,
                    });
                    (functions.delete_text)(text);
                }
                if (functions.result_next)(results, LEVEL_WORD) == 0 {
                    break;
                }
            }
            (functions.result_delete)(results);
        }
        words
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        // SAFETY: the handle was made by the same library, is alive, and is not used again.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            (self.library.functions.delete)(self.handle.as_ptr());
        }
    }
}
