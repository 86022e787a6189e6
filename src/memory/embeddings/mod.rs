//! Recall by meaning, where an OpenAI-compatible embeddings endpoint is configured
//! (`EMBEDDINGS_BASE_URL`): the same trouble in other words.
//!
//! Wanted: what shares no word with a report is found too; nobody waits for an endpoint that is
//! down, and nothing is worse without it; no text, key or address reaches a log or an error.
//!
//! Design: [`Embedder`] turns texts into vectors, [`Vector`] is one as it is kept: a byte a
//! dimension. A search looks at one bit a dimension of every incident, which stay in memory
//! (`nearest`), and reads the bytes of the few that are near from the database. That is exact
//! enough (what is lost would have stood far down) and takes a thirtieth of the memory that plain
//! vectors would. Models differ in how alike they find what has nothing in common (some say 0.1, some
//! 0.7), so each is asked once about sentences that are strangers to each other, and that is where
//! its scale begins. Likeness is one more voice beside the words (`response::recall`), never a
//! grade.
//!
//! Deliberately absent: deciding when a record's vector is made (`jobs::embed`).

mod client;
pub(super) mod nearest;
mod vector;

pub use client::{BATCH, Embedder, EmbeddingsError, Meaning, Times};
pub use vector::Vector;
