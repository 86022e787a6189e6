//! Past incidents are given their vectors: what was resolved, imported or changed, and everything
//! when another model is configured.
//!
//! Wanted: nobody's command waits for the endpoint or fails with it; nothing is missed, whatever was
//! killed or down meanwhile.
//!
//! Design: a record without a vector is one that has none in the database
//! ([`crate::store::Store::unembedded`]), so no command announces anything. A short look at what
//! changed lately costs next to nothing; everything is looked through at the start and every few
//! minutes. An outage is waited out, ever longer up to five minutes; until then such a record is found
//! by its words.

use crate::config::EmbeddingsConfig;
use crate::memory::embeddings::{BATCH, Embedder, EmbeddingsError, Times};
use crate::response::recall::meaning_of;
use crate::store::{Store, StoreError};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::watch;

/// Between two looks at what changed lately.
const LOOK: Duration = Duration::from_secs(10);
/// Between two looks through everything.
const WHOLE: Duration = Duration::from_secs(300);
/// What changed is committed a little later than its time says.
const LATE: SignedDuration = SignedDuration::from_secs(60);
/// After a failure, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// But no longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Why a pass ended early.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The endpoint.
    #[error(transparent)]
    Endpoint(#[from] EmbeddingsError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The endpoint of a configuration; `None` where none is configured.
///
/// # Errors
///
/// Where address or key are none.
pub fn configured(config: Option<&EmbeddingsConfig>) -> Result<Option<Embedder>, EmbeddingsError> {
    config
        .map(|config| {
            Embedder::new(
                &config.base_url,
                config.api_key.as_ref(),
                &config.model,
                Times::default(),
            )
        })
        .transpose()
}

/// Gives vectors until it is stopped.
pub async fn run(store: Store, embedder: Embedder, mut stopped: watch::Receiver<bool>) {
    let mut failures: u32 = 0;
    let mut whole_at = tokio::time::Instant::now();
    let mut since = Timestamp::now();
    loop {
        let whole = tokio::time::Instant::now() >= whole_at;
        let begun = Timestamp::now();
        let pass = tokio::select! {
            pass = pass(&store, &embedder, (!whole).then_some(since)) => pass,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        let pause = match pass {
            Ok(made) => {
                if made > 0 {
                    tracing::info!(made, "past incidents have their vectors");
                }
                failures = 0;
                if whole {
                    whole_at = tokio::time::Instant::now() + WHOLE;
                }
                since = begun.checked_sub(LATE).unwrap_or(begun);
                LOOK
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    failures,
                    "past incidents can't be given vectors now"
                );
                let pause = FIRST_PAUSE.saturating_mul(1 << failures.min(10));
                failures = failures.saturating_add(1);
                pause.min(LONGEST_PAUSE)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

/// Gives a vector to everything that has none, with a time to what changed from then on; gives how
/// many were made.
///
/// # Errors
///
/// Where endpoint or database fail; what was made stays made.
pub async fn pass(
    store: &Store,
    embedder: &Embedder,
    since: Option<Timestamp>,
) -> Result<u64, EmbedError> {
    let batch = u32::try_from(BATCH).unwrap_or(u32::MAX);
    let mut made = 0;
    loop {
        let missing = store.unembedded(embedder.model(), since, batch).await?;
        if missing.is_empty() {
            return Ok(made);
        }
        let texts: Vec<String> = missing
            .iter()
            .map(|missing| meaning_of(&missing.past))
            .collect();
        let vectors = embedder.records(&texts).await?;
        let kept: Vec<_> = missing
            .into_iter()
            .zip(vectors)
            .filter_map(|(missing, vector)| Some((missing, vector?.to_bytes())))
            .collect();
        if kept.is_empty() {
            // None of them says anything: asking again would be the same.
            return Ok(made);
        }
        made += u64::try_from(kept.len()).unwrap_or(0);
        store.put_vectors(embedder.model(), &kept).await?;
    }
}
