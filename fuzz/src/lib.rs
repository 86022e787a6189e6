//! The pure layers of the bot, compiled for fuzzing, by the name that they have in the bot.
//!
//! They name no network, database or clock, so that this builds in a fraction of the time, and a
//! find is repeated by its bytes alone. What is wanted of them stands in `properties.rs`, which the
//! bot's own tests run over the seeds as well.

#[path = "../../src/incident/mod.rs"]
pub mod incident;
#[path = "../../src/present/mod.rs"]
pub mod present;
#[path = "../../src/response/mod.rs"]
pub mod response;
#[path = "../../src/validation/mod.rs"]
pub mod validation;
