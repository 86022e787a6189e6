//! Ids of what people and tests name: plain snowflakes that cannot be mixed up.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub struct $name(pub u64);

        impl $name {
            /// The snowflake.
            #[must_use]
            pub fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

id! {
    /// A server.
    GuildId
    /// A channel or a thread.
    ChannelId
    /// A person or the bot.
    UserId
    /// A role.
    RoleId
    /// A message.
    MessageId
    /// A command, click, completion or submitted modal.
    InteractionId
    /// A file that a person uploaded.
    AttachmentId
}
