//! Computes a digest of the simulator's source, so that a stored run records which code it came
//! from.
//!
//! Comments, empty lines and the tests at the end of a file are left out, because they change no
//! result of a run.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files);
    files.sort();
    let mut digest = [0xcbf2_9ce4_8422_2325_u64, 0x6c62_272e_07bb_0142];
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        add(&mut digest, file.file_name().unwrap_or_default().as_encoded_bytes());
        for line in code(&text) {
            add(&mut digest, line.as_bytes());
        }
    }
    println!("cargo::rustc-env=MESHWORK_SOURCE={:016x}{:016x}", digest[0], digest[1]);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The lines of a source file that go into the digest.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let end = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// Adds bytes and a line break to the digest: two FNV-1a hashes with different constants.
fn add(digest: &mut [u64; 2], bytes: &[u8]) {
    for byte in bytes.iter().chain(b"\n") {
        digest[0] = (digest[0] ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        digest[1] = (digest[1] ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01d7);
    }
}
