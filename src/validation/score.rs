//! The score in numbers: R8, R9 and R10, nothing else.
//!
//! A rule-based score, not a probability. The model's number moves only within the band that the
//! record allows; failures and look-alikes bound it from above and win over the band.

use super::analysis::{Arithmetic, Label};

/// Never more than this (R8).
pub const HIGHEST: u8 = 98;
/// Most without any proof (R8).
pub const UNPROVEN_MOST: u8 = 30;
/// Most where a verified analogy is all there is (R9).
pub const ANALOGY_MOST: u8 = 54;
/// Most where the newest attempt of this fix failed (R10).
pub const NEWEST_FAILED_MOST: u8 = 50;
/// Most where the newest proof is over [`STALE_AFTER_DAYS`] old (R10).
pub const STALE_MOST: u8 = 74;
/// Most where the report contradicts the cause (R10, R13).
pub const CONTRADICTED_MOST: u8 = 30;
/// A proof is stale after so many days (R10).
pub const STALE_AFTER_DAYS: i64 = 365;
/// From here the label is high (R12).
pub const HIGH_FROM: u8 = 75;

/// What a score is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The model's number, 0 to 100.
    pub model: Option<u8>,
    /// Episodes in which this fix was verified.
    pub proven: u32,
    /// Episodes and own attempts in which it, or a near-same one, was refuted.
    pub refuted: u32,
    /// Direct episodes with another confirmed cause.
    pub other: u32,
    /// A verified analogy is cited (R9).
    pub verified_analogy: bool,
    /// The newest attempt of this fix failed.
    pub newest_failed: bool,
    /// The newest proof is stale.
    pub stale: bool,
    /// The report contradicts the cause.
    pub contradicted: bool,
}

/// The band of R8, and R9 where nothing is proven.
pub fn band(numbers: &Numbers) -> Option<u8> {
    let model = numbers.model.map(|number| number.min(100));
    let bottom_or = |low: u8, high: u8| model.map_or(low, |number| number.clamp(low, high));
    match numbers.proven {
        0 if numbers.verified_analogy => model.map(|number| number.min(ANALOGY_MOST)),
        0 => model.map(|number| number.min(UNPROVEN_MOST)),
        1 => Some(bottom_or(55, 74)),
        2 => Some(bottom_or(75, 89)),
        many => {
            let bottom = u8::try_from(88 + 2 * u64::from(many)).unwrap_or(u8::MAX);
            Some(model.unwrap_or(0).max(bottom).min(HIGHEST))
        }
    }
}

/// The score with everything that went into it. `None` is "not scored".
pub fn score(numbers: &Numbers) -> (Option<u8>, Arithmetic) {
    let banded = band(numbers);
    let mut caps: Vec<(String, u8)> = Vec::new();
    if numbers.refuted + numbers.other > 0 {
        let proven = u64::from(numbers.proven);
        let against = u64::from(numbers.refuted) + u64::from(numbers.other);
        let most = 100 * (proven + 1) / (proven + against + 2);
        caps.push((
            "R10 record".to_owned(),
            u8::try_from(most).unwrap_or(HIGHEST),
        ));
    }
    if numbers.newest_failed {
        caps.push(("R10 newest failed".to_owned(), NEWEST_FAILED_MOST));
    }
    if numbers.stale {
        caps.push(("R10 stale".to_owned(), STALE_MOST));
    }
    if numbers.contradicted {
        caps.push(("R10 contradicted".to_owned(), CONTRADICTED_MOST));
    }
    let score = banded.map(|score| caps.iter().map(|(_, most)| *most).fold(score, u8::min));
    let arithmetic = Arithmetic {
        model: numbers.model,
        proven: numbers.proven,
        refuted: numbers.refuted,
        other: numbers.other,
        banded,
        caps,
    };
    (score, arithmetic)
}

/// R12's label. What rests on analogies alone is never more than medium (R7): R9 keeps it at
/// [`ANALOGY_MOST`], below where *high* begins.
pub fn label(score: Option<u8>, numbers: &Numbers) -> Label {
    match score {
        None => Label::Low,
        Some(score) if score <= UNPROVEN_MOST => Label::Low,
        Some(score) if score >= HIGH_FROM && numbers.refuted == 0 && !numbers.stale => Label::High,
        Some(_) => Label::Medium,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(model: Option<u8>, proven: u32, refuted: u32, other: u32) -> Numbers {
        Numbers {
            model,
            proven,
            refuted,
            other,
            ..Numbers::default()
        }
    }

    #[test]
    fn r8_r9_r10_worked_cases() {
        let newest_failed = |numbers: Numbers| Numbers {
            newest_failed: true,
            ..numbers
        };
        let analogy = |model| Numbers {
            model: Some(model),
            verified_analogy: true,
            ..Numbers::default()
        };
        for (numbers, expected) in [
            (of(Some(100), 5, 0, 0), Some(98)),
            (of(Some(0), 3, 0, 0), Some(94)),
            (of(Some(50), 4, 0, 0), Some(96)),
            (of(Some(82), 2, 0, 0), Some(82)),
            (of(Some(0), 2, 0, 0), Some(75)),
            (of(Some(100), 1, 0, 0), Some(74)),
            (of(Some(100), 0, 0, 0), Some(30)),
            (of(Some(100), 3, 1, 0), Some(66)),
            (newest_failed(of(Some(100), 3, 1, 0)), Some(50)),
            (of(Some(100), 2, 1, 0), Some(60)),
            (of(Some(100), 1, 1, 0), Some(50)),
            (of(Some(100), 0, 2, 0), Some(25)),
            (of(Some(100), 3, 0, 3), Some(50)),
            (analogy(90), Some(54)),
            (of(Some(90), 0, 0, 0), Some(30)),
            // A missing number is the bottom of the band; without proof it is not scored.
            (of(None, 1, 0, 0), Some(55)),
            (of(None, 2, 0, 0), Some(75)),
            (of(None, 3, 0, 0), Some(94)),
            (of(None, 0, 0, 0), None),
            (of(None, 0, 1, 0), None),
        ] {
            assert_eq!(score(&numbers).0, expected, "{numbers:?}");
        }
    }

    #[test]
    fn r10_the_other_caps() {
        let stale = Numbers {
            stale: true,
            ..of(Some(100), 4, 0, 0)
        };
        assert_eq!(score(&stale).0, Some(74));
        assert_eq!(label(score(&stale).0, &stale), Label::Medium);
        let contradicted = Numbers {
            contradicted: true,
            ..of(Some(89), 2, 0, 0)
        };
        assert_eq!(score(&contradicted).0, Some(30));
    }

    #[test]
    fn r12_labels() {
        for (numbers, expected) in [
            (of(Some(82), 2, 0, 0), Label::High),
            (of(Some(100), 1, 0, 0), Label::Medium),
            (of(Some(100), 0, 0, 0), Label::Low),
            (of(None, 0, 0, 0), Label::Low),
            // At least 75 in spite of a failure: not high.
            (of(Some(100), 10, 1, 0), Label::Medium),
        ] {
            assert_eq!(label(score(&numbers).0, &numbers), expected, "{numbers:?}");
        }
    }

    fn any_numbers() -> impl Strategy<Value = Numbers> {
        (
            proptest::option::of(0u8..=100),
            0u32..12,
            0u32..12,
            0u32..12,
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        )
            .prop_map(
                |(
                    model,
                    proven,
                    refuted,
                    other,
                    verified_analogy,
                    newest_failed,
                    stale,
                    contradicted,
                )| Numbers {
                    model,
                    proven,
                    refuted,
                    other,
                    verified_analogy,
                    newest_failed,
                    stale,
                    contradicted,
                },
            )
    }

    proptest! {
        #[test]
        fn r8_never_over_98(numbers in any_numbers()) {
            prop_assert!(score(&numbers).0.is_none_or(|score| score <= HIGHEST));
        }

        #[test]
        fn r8_monotone_in_proofs(numbers in any_numbers()) {
            let more = Numbers { proven: numbers.proven + 1, ..numbers };
            prop_assert!(score(&numbers).0 <= score(&more).0);
        }

        #[test]
        fn r10_antitone_in_failures_and_lookalikes(numbers in any_numbers()) {
            let failed = Numbers { refuted: numbers.refuted + 1, ..numbers };
            let other = Numbers { other: numbers.other + 1, ..numbers };
            prop_assert!(score(&failed).0 <= score(&numbers).0);
            prop_assert!(score(&other).0 <= score(&numbers).0);
        }

        #[test]
        fn r7_on_analogies_alone_never_more_than_medium(mut numbers in any_numbers()) {
            numbers.proven = 0;
            let (score, _) = score(&numbers);
            prop_assert_ne!(label(score, &numbers), Label::High);
        }

        #[test]
        fn r8_without_proof_never_more_than_a_verified_analogy(numbers in any_numbers()) {
            let unproven = Numbers { proven: 0, ..numbers };
            prop_assert!(score(&unproven).0.is_none_or(|score| score <= ANALOGY_MOST));
        }
    }
}
