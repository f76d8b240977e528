//! Writes down the files of the dashboard, so that they are part of the binary. `web/dist` is there if `./run`, `./test`
//! or `npm run build` made it; without it the list is empty and the server shows its plain status page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crate_folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let dist = crate_folder.join("../../web/dist");
    // `npm run build` touches this file, because a folder that is not there cannot be watched.
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        println!("cargo::rerun-if-changed={}", dist.display());
        collect(&dist, &dist, &mut files)?;
        files.sort();
    }
    // Copies, because `web/dist` may be built anew while the compiler runs.
    let copies = out.join("dashboard");
    if copies.try_exists()? {
        fs::remove_dir_all(&copies)?;
    }
    fs::create_dir(&copies)?;
    let mut list = String::from("&[\n");
    for (number, (name, path)) in files.iter().enumerate() {
        let copy = copies.join(number.to_string());
        fs::copy(path, &copy)?;
        // Both are written as Rust would, whatever stands in them.
        let line = format!("    ({name:?}, include_bytes!({:?})),\n", copy.display().to_string());
        list.write_str(&line).map_err(io::Error::other)?;
    }
    list.push_str("]\n");
    fs::write(out.join("dashboard.rs"), list)
}

/// Every file below `folder`, by its path from `dist`.
fn collect(dist: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(dist, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(dist) {
            files.push((name.to_string_lossy().replace('\\', "/"), path.clone()));
        }
    }
    Ok(())
}
