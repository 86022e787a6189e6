//! Sockets: one listener for HTTP and the gateway, and one with TLS where asked for.
//!
//! Served by hand rather than through a router, because a double has to be able to
//! close a connection without an answer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, WebSocketUpgrade};
use axum::http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use crate::tls::Certificate;
use crate::{Core, gateway, rest};

/// Stops the listeners when the last handle on the double goes.
pub(crate) struct Listeners(Vec<AbortHandle>);

impl Drop for Listeners {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Serves HTTP on `plain` and, with a certificate, HTTPS on `tls`.
pub(crate) fn listen(
    core: &Arc<Core>,
    plain: TcpListener,
    tls: Option<(TcpListener, Arc<Certificate>)>,
) -> Listeners {
    let mut all = vec![accept(Arc::clone(core), plain, None)];
    if let Some((listener, certificate)) = tls {
        all.push(accept(Arc::clone(core), listener, Some(certificate)));
    }
    Listeners(all)
}

fn accept(
    core: Arc<Core>,
    listener: TcpListener,
    certificate: Option<Arc<Certificate>>,
) -> AbortHandle {
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of file descriptors, or a client that went away at once.
                tokio::task::yield_now().await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let (core, certificate) = (Arc::clone(&core), certificate.clone());
            tokio::spawn(async move {
                match certificate {
                    None => serve(core, stream).await,
                    Some(certificate) => {
                        if let Ok(stream) = certificate.accept(stream).await {
                            serve(core, stream).await;
                        }
                    }
                }
            });
        }
    })
    .abort_handle()
}

async fn serve(core: Arc<Core>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let service = service_fn(move |request| answer(Arc::clone(&core), request));
    // An error here is a connection that one side closed.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
}

async fn answer(core: Arc<Core>, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (mut parts, body) = request.into_parts();
    if parts.headers.contains_key("sec-websocket-key") {
        let refused = core.with(|w| {
            if w.gateway.refuse {
                w.gateway.acts.push(gateway::ClientAct::Refused);
            }
            w.gateway.refuse
        });
        if refused {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let version = parts.uri.query().and_then(|q| {
            q.split('&')
                .find_map(|pair| pair.strip_prefix("v=").map(str::to_owned))
        });
        return Ok(
            match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
                Ok(upgrade) => upgrade
                    .max_message_size(1 << 20)
                    .on_upgrade(|socket| gateway::serve(core, socket, version)),
                Err(_) => {
                    let mut response = Response::new(Body::from("not a WebSocket"));
                    *response.status_mut() = StatusCode::BAD_REQUEST;
                    response
                }
            },
        );
    }
    rest::answer(core, parts, Body::new(body)).await
}

/// A listener on a free port of the loopback interface, or on a given address.
pub(crate) async fn bind(address: Option<SocketAddr>) -> io::Result<TcpListener> {
    match address {
        Some(address) => TcpListener::bind(address).await,
        None => TcpListener::bind(("127.0.0.1", 0)).await,
    }
}

/// So that the TLS side can name the stream it wraps.
pub(crate) type Stream = TcpStream;
