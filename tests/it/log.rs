//! What the bot logs, for tests that look for what must not stand there.
//!
//! They run each in a process of its own ([`alone`]): which events are of interest is cached for the
//! whole process, and tests beside them, which listen to none, would make it deaf by chance.

use std::io;
use std::sync::{Arc, Mutex};
use tracing::Subscriber;

/// What is logged, as text.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Writes every event into this log.
    pub fn subscriber(&self) -> impl Subscriber + Send + Sync + use<> {
        let writer = self.clone();
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish()
    }

    /// What was logged so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("the log").clone()).expect("text")
    }
}

/// Runs an ignored test of this binary in a process of its own.
pub fn alone(test: &str) {
    let output = std::process::Command::new(std::env::current_exe().expect("this binary"))
        .args([test, "--exact", "--ignored", "--test-threads", "1"])
        .output()
        .expect("this binary runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.contains("1 passed"), "{said}");
}
