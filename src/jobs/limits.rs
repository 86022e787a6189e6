//! Limits and budgets (governor): how often a person and a guild may start an analysis, how often a
//! person may ask a question, and how often a guild may cause a model to be asked. Over them recall and rules still answer.
//!
//! Kept in memory: a restart forgives. Threads are no way around, the keys are person and guild.

use crate::config::Limits;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;

/// The limits of a running bot.
pub struct Limiter {
    person: DefaultKeyedRateLimiter<(u64, u64)>,
    guild: DefaultKeyedRateLimiter<u64>,
    asks: DefaultKeyedRateLimiter<(u64, u64)>,
    model: DefaultKeyedRateLimiter<u64>,
    clock: DefaultClock,
}

impl Limiter {
    /// Limits as configured; each refills evenly over the hour.
    pub fn new(limits: &Limits) -> Self {
        let hourly = |count: u32| {
            let count = NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
            Quota::per_hour(count).allow_burst(count)
        };
        Self {
            person: RateLimiter::keyed(hourly(limits.analyses_per_person_hour)),
            guild: RateLimiter::keyed(hourly(limits.analyses_per_guild_hour)),
            asks: RateLimiter::keyed(hourly(limits.questions_per_person_hour)),
            model: RateLimiter::keyed(hourly(limits.model_calls_per_guild_hour)),
            clock: DefaultClock::default(),
        }
    }

    /// Counts one analysis; `Some` seconds until the model may be asked again where a limit is
    /// reached.
    pub fn analysis(&self, guild: u64, person: u64) -> Option<u64> {
        // One after the other: what a person asks over their limit is not counted for the guild.
        self.person
            .check_key(&(guild, person))
            .and_then(|()| self.guild.check_key(&guild))
            .and_then(|()| self.model.check_key(&guild))
            .err()
            .map(|over| self.seconds(&over))
    }

    /// Counts one question of a person.
    pub fn question(&self, guild: u64, person: u64) -> Option<u64> {
        self.asks
            .check_key(&(guild, person))
            .and_then(|()| self.model.check_key(&guild))
            .err()
            .map(|over| self.seconds(&over))
    }

    /// Counts one call of the model that nobody asked for: the analysis after a failed fix (R27).
    pub fn unasked(&self, guild: u64) -> Option<u64> {
        self.model
            .check_key(&guild)
            .err()
            .map(|over| self.seconds(&over))
    }

    fn seconds(&self, over: &governor::NotUntil<<DefaultClock as Clock>::Instant>) -> u64 {
        over.wait_time_from(self.clock.now()).as_secs().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_over_the_limit_holds_nobody_else_up() {
        let limiter = Limiter::new(&Limits {
            analyses_per_person_hour: 2,
            analyses_per_guild_hour: 100,
            questions_per_person_hour: 100,
            model_calls_per_guild_hour: 100,
        });
        assert_eq!(limiter.analysis(1, 7), None);
        assert_eq!(limiter.analysis(1, 7), None);
        assert!(limiter.analysis(1, 7).is_some_and(|seconds| seconds > 60));
        assert_eq!(limiter.analysis(1, 8), None);
        assert_eq!(limiter.analysis(2, 7), None);
    }

    #[test]
    fn the_budget_of_a_guild_is_shared_by_all_who_ask() {
        let limiter = Limiter::new(&Limits {
            analyses_per_person_hour: 100,
            analyses_per_guild_hour: 100,
            questions_per_person_hour: 100,
            model_calls_per_guild_hour: 2,
        });
        assert_eq!(limiter.analysis(1, 7), None);
        assert_eq!(limiter.question(1, 7), None);
        assert!(limiter.analysis(1, 8).is_some());
        assert!(limiter.question(1, 8).is_some());
        assert!(limiter.unasked(1).is_some());
        assert_eq!(limiter.unasked(2), None);
    }

    #[test]
    fn who_asks_too_often_uses_up_nobody_else_s_questions() {
        let limiter = Limiter::new(&Limits {
            analyses_per_person_hour: 100,
            analyses_per_guild_hour: 100,
            questions_per_person_hour: 1,
            model_calls_per_guild_hour: 2,
        });
        assert_eq!(limiter.question(1, 7), None);
        for _ in 0..3 {
            assert!(limiter.question(1, 7).is_some_and(|seconds| seconds > 60));
        }
        assert_eq!(limiter.question(1, 8), None);
    }
}
