//! pdfium's C interface, found at run time.
//!
//! The library comes out of a package of its own (`docmill models pull`); the binary starts and works without it.
//! What is called here is declared in pdfium's `public/fpdfview.h` and `public/fpdf_text.h`, whose names stay.
//! Nothing of pdfium may run twice at the same time: every call takes its turn.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulong, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docmill_core::{Error, Result};
use libloading::Library;

/// What `FPDF_GetLastError` says of a document that needs another password.
const WRONG_PASSWORD: c_ulong = 4;

type Handle = *mut c_void;

/// `FPDF_LIBRARY_CONFIG`, version 2.
#[repr(C)]
struct Config {
    version: c_int,
    /// Folders with fonts, ended by null.
    font_folders: *const *const c_char,
    isolate: *mut c_void,
    embedder_slot: c_uint,
}

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
                        // SAFETY: the type is that of the declaration in pdfium's headers, and the pointer is used
                        // only while the library is loaded: `Engine` keeps both.
                        #[expect(unsafe_code, reason = "a symbol's type cannot be checked")]
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) $(-> $answer)?>($symbol)
                        };
                        *found.map_err(|e| {
                            Error::missing_dependency("this libpdfium lacks a function").with_source(e)
                        })?
                    },)*
                })
            }
        }
    };
}

functions! {
    init: b"FPDF_InitLibraryWithConfig\0" = fn(*const Config);
    last_error: b"FPDF_GetLastError\0" = fn() -> c_ulong;
    open: b"FPDF_LoadMemDocument64\0" = fn(*const c_void, usize, *const c_char) -> Handle;
    close: b"FPDF_CloseDocument\0" = fn(Handle);
    page_count: b"FPDF_GetPageCount\0" = fn(Handle) -> c_int;
    open_page: b"FPDF_LoadPage\0" = fn(Handle, c_int) -> Handle;
    close_page: b"FPDF_ClosePage\0" = fn(Handle);
    open_text: b"FPDFText_LoadPage\0" = fn(Handle) -> Handle;
    close_text: b"FPDFText_ClosePage\0" = fn(Handle);
    characters: b"FPDFText_CountChars\0" = fn(Handle) -> c_int;
    character: b"FPDFText_GetUnicode\0" = fn(Handle, c_int) -> c_uint;
}

/// The loaded library.
pub(super) struct Engine {
    functions: Functions,
    /// Held by whoever is inside the library; true once it was prepared.
    turn: Mutex<bool>,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Engine {
    /// Loads `libpdfium.so`. Nothing of it runs yet but its initialisers.
    pub(super) fn load(path: &Path) -> Result<Arc<Self>> {
        // SAFETY: loading runs the library's initialisers. It is the file that `docmill models pull` has compared byte
        // by byte, or one named by the administrator, and nothing else of this process has begun yet.
        #[expect(unsafe_code, reason = "loading a library runs its code")]
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|e| {
            Error::missing_dependency(format!("cannot load `{}`", path.display())).with_source(e)
        })?;
        Ok(Arc::new(Self {
            functions: Functions::find(&library)?,
            turn: Mutex::new(false),
            _library: library,
        }))
    }

    fn turn(&self) -> MutexGuard<'_, bool> {
        // Nothing between lock and unlock panics but the library itself, and that ends the process.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares the library, once. It is told of no folder with fonts: text must not depend on what a machine has.
    pub(super) fn begin(&self) {
        let mut begun = self.turn();
        if *begun {
            return;
        }
        *begun = true;
        let no_folders: [*const c_char; 1] = [ptr::null()];
        let config = Config {
            version: 2,
            font_folders: no_folders.as_ptr(),
            isolate: ptr::null_mut(),
            embedder_slot: 0,
        };
        // SAFETY: the structure is that of its version, and the library copies the list before it returns.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            (self.functions.init)(&raw const config);
        }
    }

    /// Opens a document. `None` means that it needs another password.
    pub(super) fn open(
        self: &Arc<Self>,
        bytes: &Arc<Vec<u8>>,
        password: Option<&str>,
    ) -> Result<Option<Opened>> {
        self.begin();
        let password = password.map(CString::new).transpose();
        let password =
            password.map_err(|e| Error::invalid_config("a password holds a zero byte").with_source(e))?;
        let given = password.as_ref().map_or(ptr::null(), |p| p.as_ptr());
        let _turn = self.turn();
        // SAFETY: the bytes are not changed and live as long as the handle: `Opened` keeps them. The password ends with a
        // zero, or is null, and lives through the call.
        #[expect(unsafe_code, reason = "C interface")]
        let handle = unsafe { (self.functions.open)(bytes.as_ptr().cast(), bytes.len(), given) };
        if let Some(handle) = NonNull::new(handle) {
            return Ok(Some(Opened { engine: Arc::clone(self), handle, _bytes: Arc::clone(bytes) }));
        }
        // SAFETY: takes nothing and looks up a number.
        #[expect(unsafe_code, reason = "C interface")]
        let why = unsafe { (self.functions.last_error)() };
        if why == WRONG_PASSWORD {
            Ok(None)
        } else {
            Err(Error::corrupt(format!("pdfium cannot open it (error {why})")))
        }
    }
}

/// An open document.
pub(super) struct Opened {
    engine: Arc<Engine>,
    handle: NonNull<c_void>,
    /// The library reads from them.
    _bytes: Arc<Vec<u8>>,
}

impl Opened {
    pub(super) fn page_count(&self) -> u32 {
        let _turn = self.engine.turn();
        // SAFETY: the handle is alive.
        #[expect(unsafe_code, reason = "C interface")]
        let count = unsafe { (self.engine.functions.page_count)(self.handle.as_ptr()) };
        u32::try_from(count).unwrap_or(0)
    }

    /// The code units of a page's text, at most `most`; `None` if the page cannot be read. Numbers begin with 1.
    pub(super) fn page(&self, number: u32, most: usize) -> Option<Vec<u32>> {
        let functions = &self.engine.functions;
        let index = c_int::try_from(number.checked_sub(1)?).ok()?;
        let _turn = self.engine.turn();
        // SAFETY: the document is alive; page and text are used only if they are not null, and closed in the reverse
        // order before anything else happens to the document. Characters are asked for below their count.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            let page = (functions.open_page)(self.handle.as_ptr(), index);
            if page.is_null() {
                return None;
            }
            let text = (functions.open_text)(page);
            let units = (!text.is_null()).then(|| {
                let count = (functions.characters)(text).min(c_int::try_from(most).unwrap_or(c_int::MAX));
                let units = (0..count.max(0)).map(|at| (functions.character)(text, at)).collect();
                (functions.close_text)(text);
                units
            });
            (functions.close_page)(page);
            units
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _turn = self.engine.turn();
        // SAFETY: the handle was made by the same library, is alive, and is not used again.
        #[expect(unsafe_code, reason = "C interface")]
        unsafe {
            (self.engine.functions.close)(self.handle.as_ptr());
        }
    }
}
