//! An HTTP service that the operator configured by address and key: opened in one way, whoever talks
//! to it.
//!
//! Wanted: the key never prints; nothing is carried to a place that nobody configured; a service on
//! this machine is not looked for behind a proxy.
//!
//! Deliberately absent: requests, times and retries. Each client has its own; only the reading of a
//! body that may be too large is the same for all.

use reqwest::header::HeaderValue;
use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use thiserror::Error;

/// A service that can be asked.
pub struct Remote {
    /// Its address, to which paths are added.
    pub base_url: Url,
    /// What the header `authorization` holds; `None` where it wants no key.
    pub authorization: Option<HeaderValue>,
    /// The connections to it.
    pub client: Client,
}

/// Why a service cannot be asked at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RemoteError {
    /// The address is no http(s) address.
    #[error("the address is no http or https address")]
    BadAddress,
    /// The key holds characters that no header can carry.
    #[error("the key holds characters that no header can carry")]
    BadKey,
    /// The system's TLS library does not start.
    #[error("TLS does not start")]
    NoTls,
}

/// The body of an answer, as far as it is read.
pub struct Body {
    /// At most so many bytes as were asked for.
    pub bytes: Vec<u8>,
    /// There was more.
    pub cut: bool,
}

/// Reads a body up to so many bytes.
///
/// # Errors
///
/// Where the connection is lost.
pub async fn body(response: &mut Response, most: usize) -> Result<Body, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            bytes.truncate(most);
            return Ok(Body { bytes, cut: true });
        }
    }
    Ok(Body { bytes, cut: false })
}

impl Remote {
    /// The service at an address, with its key if it wants one; an empty key is none. A connection
    /// that does not stand after `patience` is given up.
    ///
    /// # Errors
    ///
    /// As [`RemoteError`] says.
    pub fn open(
        address: &str,
        key: Option<&SecretString>,
        patience: Duration,
    ) -> Result<Self, RemoteError> {
        let mut base_url = Url::parse(address.trim()).map_err(|_| RemoteError::BadAddress)?;
        if !matches!(base_url.scheme(), "http" | "https") || base_url.cannot_be_a_base() {
            return Err(RemoteError::BadAddress);
        }
        base_url
            .path_segments_mut()
            .map_err(|()| RemoteError::BadAddress)?
            .pop_if_empty();
        // A key from a file often ends in a line break.
        let authorization = match key.map(|key| key.expose_secret().trim()) {
            Some(key) if !key.is_empty() => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                    .map_err(|_| RemoteError::BadKey)?;
                value.set_sensitive(true);
                Some(value)
            }
            _ => None,
        };
        let mut client = Client::builder()
            .user_agent(concat!("precedent/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(patience)
            // A redirect would carry what is sent to a place that nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        let here = base_url
            .host_str()
            .is_some_and(|host| host == "localhost" || host.starts_with("127.") || host == "[::1]");
        if here {
            client = client.no_proxy();
        }
        Ok(Self {
            base_url,
            authorization,
            client: client.build().map_err(|_| RemoteError::NoTls)?,
        })
    }
}
