//! The goals of grounding: nothing of the set leaks, hardly a clean claim is touched (R6, R20).

#[path = "../../examples/evaluate/grounding.rs"]
mod measure;

use std::path::Path;

fn figures() -> measure::Figures {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/grounding.jsonl");
    measure::of_file(&file.to_string_lossy()).expect("the set can be read")
}

#[test]
fn no_leak_passes_and_clean_claims_stay() {
    let figures = figures();
    let misses = figures.misses.join("\n");
    assert!(figures.cases >= 300, "{} cases", figures.cases);
    assert!(figures.clean >= 100, "{} clean claims", figures.clean);
    assert_eq!(figures.leaks_shown(), 0, "{misses}");
    assert_eq!(figures.uncorrected, 0, "{misses}");
    assert_eq!(figures.unmarked, 0, "{misses}");
    assert!(
        figures.touched_percent() <= 2.0,
        "{} of {} clean claims touched:\n{misses}",
        figures.touched,
        figures.clean
    );
    assert_eq!(figures.json()["leaks"]["of"], figures.leaks_of());
}
