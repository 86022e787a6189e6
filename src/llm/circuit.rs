//! Not asking a model that is known not to answer.
//!
//! Properties wanted: once a provider has said that the day's allowance is gone, no call is made
//! until it is back, and each caller is told the time that remains; a model that failed several
//! times in a row costs the next incident no minute of waiting; one call at a time finds out
//! whether it is back; a call that is dropped half way leaves nothing stuck.
//!
//! A limit per minute opens nothing: a smaller question may pass where a large one did not.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::LlmError;

/// Calls that fail in a row before a model is left alone.
const FAILURES_TO_OPEN: u32 = 3;
/// How long a model that failed is left alone.
const REST: Duration = Duration::from_secs(30);
/// The longest rest, whatever the provider asked for.
const LONGEST_REST: Duration = Duration::from_secs(300);
/// How long a used-up allowance is believed when the provider gave no time.
const UNKNOWN_ALLOWANCE: Duration = Duration::from_secs(300);

/// The circuits of one endpoint, one a model (limits are counted per model).
#[derive(Debug, Default)]
pub(super) struct Circuits(Mutex<HashMap<String, Circuit>>);

#[derive(Debug, Default)]
struct Circuit {
    failures: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    why: LlmError,
}

impl Circuits {
    /// Lets a call through, or fails it at once with what is known.
    ///
    /// After a rest one call is let through; the others keep failing for as long as that call may
    /// take (`budget`), so a dropped trial needs no clearing up.
    pub(super) fn enter(
        &self,
        model: &str,
        now: Instant,
        budget: Duration,
    ) -> Result<(), LlmError> {
        let mut circuits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(circuit) = circuits.get_mut(model) else {
            return Ok(());
        };
        let Some(open) = &mut circuit.open else {
            return Ok(());
        };
        let left = open.until.saturating_duration_since(now);
        if left.is_zero() {
            open.until = now + budget.min(LONGEST_REST);
            return Ok(());
        }
        Err(match &open.why {
            LlmError::DailyLimit { .. } => LlmError::DailyLimit {
                retry_after: Some(left),
            },
            LlmError::Overloaded { .. } => LlmError::Overloaded {
                retry_after: Some(left),
            },
            why => why.clone(),
        })
    }

    /// Takes in how a call ended. `full_wait`: a timeout was the model's, not a short budget's.
    pub(super) fn settle(
        &self,
        model: &str,
        now: Instant,
        error: Option<&LlmError>,
        full_wait: bool,
    ) {
        let mut circuits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Some(why @ LlmError::DailyLimit { retry_after }) => {
                let circuit = circuits.entry(model.to_owned()).or_default();
                circuit.open = Some(Open {
                    until: now + retry_after.unwrap_or(UNKNOWN_ALLOWANCE),
                    why: why.clone(),
                });
            }
            Some(LlmError::Timeout { .. }) if !full_wait => {}
            Some(
                why @ (LlmError::Overloaded { .. }
                | LlmError::Unreachable
                | LlmError::Timeout { .. }),
            ) => {
                let circuit = circuits.entry(model.to_owned()).or_default();
                circuit.failures = circuit.failures.saturating_add(1);
                if circuit.failures >= FAILURES_TO_OPEN {
                    let rest = why.retry_after().unwrap_or(REST);
                    circuit.open = Some(Open {
                        until: now + rest.clamp(REST, LONGEST_REST),
                        why: why.clone(),
                    });
                }
            }
            // An answer, or an error that shows the endpoint at work.
            _ => {
                circuits.remove(model);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(60);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_used_up_day_fails_calls_until_it_is_back() {
        let circuits = Circuits::default();
        let daily = LlmError::DailyLimit {
            retry_after: Some(seconds(660)),
        };
        circuits.settle("big", Instant::now(), Some(&daily), true);
        tokio::time::advance(seconds(60)).await;
        assert_eq!(
            circuits.enter("big", Instant::now(), BUDGET),
            Err(LlmError::DailyLimit {
                retry_after: Some(seconds(600))
            })
        );
        assert_eq!(circuits.enter("small", Instant::now(), BUDGET), Ok(()));
        tokio::time::advance(seconds(600)).await;
        assert_eq!(circuits.enter("big", Instant::now(), BUDGET), Ok(()));
        circuits.settle("big", Instant::now(), None, true);
        assert_eq!(circuits.enter("big", Instant::now(), BUDGET), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn the_third_failure_in_a_row_opens_and_one_trial_closes() {
        let circuits = Circuits::default();
        let enter = || circuits.enter("big", Instant::now(), BUDGET);
        let settle = |error: Option<&LlmError>| {
            circuits.settle("big", Instant::now(), error, true);
        };
        let down = LlmError::Unreachable;
        settle(Some(&down));
        settle(Some(&down));
        assert_eq!(enter(), Ok(()), "two failures are no pattern");
        settle(None);
        settle(Some(&down));
        settle(Some(&down));
        assert_eq!(enter(), Ok(()), "the answer between began a new count");
        settle(Some(&down));
        assert_eq!(enter(), Err(LlmError::Unreachable));
        tokio::time::advance(REST).await;
        assert_eq!(enter(), Ok(()), "one trial");
        assert_eq!(enter(), Err(LlmError::Unreachable), "not two at once");
        settle(Some(&down));
        assert_eq!(enter(), Err(LlmError::Unreachable), "the trial failed");
        tokio::time::advance(REST).await;
        assert_eq!(enter(), Ok(()), "the next trial");
        // This one is dropped and never settles.
        tokio::time::advance(BUDGET).await;
        assert_eq!(enter(), Ok(()), "a dropped trial blocks nobody for good");
        settle(None);
        assert_eq!(enter(), Ok(()));
        assert_eq!(enter(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn short_budgets_and_refusals_open_nothing() {
        let circuits = Circuits::default();
        for _ in 0..5 {
            let timeout = LlmError::Timeout { after: seconds(1) };
            circuits.settle("big", Instant::now(), Some(&timeout), false);
            let limited = LlmError::RateLimited {
                retry_after: Some(seconds(60)),
            };
            circuits.settle("big", Instant::now(), Some(&limited), true);
        }
        assert_eq!(circuits.enter("big", Instant::now(), BUDGET), Ok(()));
    }
}
