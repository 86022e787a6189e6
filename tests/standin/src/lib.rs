//! A strict double of Discord, of a chat-completions provider and of Hindsight, for tests and the
//! playground.
//!
//! Properties wanted:
//! - The real client talks to it, over the real protocols. Nothing in the bot knows.
//! - It is strict exactly where Discord is. Whatever a bot does that Discord refuses,
//!   ignores in silence, or never documented is a *violation*; it is answered as Discord
//!   would, and [`Discord::finish`] fails the test with the list of them.
//! - Nothing goes unseen: a post that no test looked at, an interaction that nobody
//!   answered, a scripted fault that never happened fail the test as well.
//! - Tests read as sentences: `alice` slashes, clicks and says; the bot's posts are read
//!   as text.
//!
//! Design: one plain model, `world`, behind one lock. REST (`rest`) and the gateway
//! ([`gateway`]) are derived from it; people ([`people`]) act on it; whoever waits for
//! something waits for the model to change. Nothing here sleeps to see whether something
//! happens.
//!
//! ```no_run
//! # async fn test() {
//! use serde_json::json;
//! use standin::Discord;
//!
//! let discord = Discord::start().await;
//! let acme = discord.guild("acme");
//! let incidents = discord.channel(acme, "incidents");
//! let alice = discord.member(acme, "alice");
//! // Start the bot with `discord.url()` and `discord.token()`, then:
//! discord.gateway().connected().await;
//! discord.commands_registered(acme).await;
//! let analyze = discord.slash(alice, incidents, "analyze", json!({"report": "503s"}));
//! let headline = analyze.original().await;
//! assert!(headline.shows("SEV2"));
//! let thread = discord.await_thread(&headline).await;
//! let card = discord.next_post(thread).await;
//! let click = discord.click(alice, &card, "Cause confirmed");
//! assert!(click.ephemeral().await.shows("noted"));
//! discord.finish();
//! # }
//! ```
//!
//! Deliberately absent: voice, stickers, forums, direct messages, user-installed
//! applications, several applications at once, sharding.

mod clock;
pub mod embeddings;
mod faults;
pub mod gateway;
mod handle;
pub mod hindsight;
mod ids;
mod interaction;
pub mod llm;
mod mentions;
pub mod people;
pub mod permissions;
mod post;
mod refusal;
mod rest;
pub mod rules;
pub mod schema;
mod server;
mod text;
pub mod tls;
mod world;

pub use clock::Clock;
pub use faults::Failure;
pub use handle::{Discord, GatewayHandle};
pub use ids::{AttachmentId, ChannelId, GuildId, InteractionId, MessageId, RoleId, UserId};
pub use interaction::{Choice, Interaction, Modal, ModalField, Response};
pub use mentions::Pings;
pub use people::{Say, Upload};
pub use post::{Button, Post, PostedFile, Select};
pub use world::{Change, Request};

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use world::World;

/// The world and the bell that rings when it changes.
pub(crate) struct Core {
    world: Mutex<World>,
    changed: watch::Sender<u64>,
}

impl Core {
    fn new(world: World) -> Self {
        Self {
            world: Mutex::new(world),
            changed: watch::Sender::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        // A test that panicked while acting has left the world as it was; others may
        // still look at it to say what happened.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world and rings the bell.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut World) -> R) -> R {
        let result = act(&mut self.lock());
        self.changed.send_modify(|n| *n = n.wrapping_add(1));
        result
    }

    /// Only looks.
    pub(crate) fn look<R>(&self, see: impl FnOnce(&World) -> R) -> R {
        see(&self.lock())
    }

    pub(crate) fn bell(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
