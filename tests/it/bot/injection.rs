//! Attacks through the whole bot, obeyed by the model: in at every entrance, harmless at every exit
//! (R21).

#![allow(clippy::print_stdout)]

#[path = "../../../examples/evaluate/injection.rs"]
mod attacks;

use attacks::Way;

/// Every n-th play of the published texts is made here, as many as stay under forty seconds without
/// optimisation; `evaluate -- injection DIR` makes all of them.
const EVERY: usize = 24;

#[tokio::test(flavor = "multi_thread")]
async fn r21_published_attacks_that_are_obeyed_harm_nobody() {
    let Ok(shared) = std::env::var("PRECEDENT_SHARED") else {
        println!("skipped: PRECEDENT_SHARED is not set");
        return;
    };
    let rows = attacks::rows(&format!("{shared}/data/injection")).expect("the rows are there");
    // In turns, so that each way meets each file.
    let figures = attacks::run(&rows, |at, row| {
        let ways = Way::all(row);
        if at % EVERY > 0 {
            return Vec::new();
        }
        vec![ways[at / EVERY % ways.len()]]
    })
    .await;
    println!("{}", figures.json());
    assert!(figures.faults.is_empty(), "{}", figures.faults.join("\n"));
}
