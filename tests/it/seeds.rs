//! The seeds of the fuzz targets, through what the targets hold: a find that was mended stays so
//! without nightly and without a fuzzer.

#![allow(clippy::print_stdout)]

#[path = "../../fuzz/properties.rs"]
mod properties;

use std::path::Path;

/// Runs a property over the seeds of its target.
fn hold(target: &str, property: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let seeds = std::fs::read_dir(&folder).expect("a folder of seeds");
    let mut count = 0;
    for seed in seeds {
        let path = seed.expect("a seed").path();
        let bytes = std::fs::read(&path).expect("a file");
        println!("{}", path.display());
        property(&bytes);
        // Other choices that the first byte makes: where the text stands, in which language.
        for first in [1, 2, 4, 9] {
            let mut other = bytes.clone();
            if let Some(byte) = other.first_mut() {
                *byte = first;
            }
            property(&other);
        }
        count += 1;
    }
    assert!(count > 4, "{count} seeds of {target}");
}

#[test]
fn reading_holds() {
    hold("reading", properties::reading);
}

#[test]
fn redaction_holds() {
    hold("redaction", properties::redaction);
}

#[test]
fn signatures_hold() {
    hold("signatures", properties::signatures);
}

#[test]
fn rendering_holds() {
    hold("rendering", properties::rendering);
}

#[test]
fn commands_hold() {
    hold("commands", properties::commands);
}
