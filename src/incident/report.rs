//! What the responder wrote, with attachments and later messages of the thread.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The report of an incident: everything that counts as evidence of today. Already redacted (R22).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The text of `/analyze`, the modal, or the message that was analysed.
    pub text: String,
    /// Text read from attached files.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Later messages of people in the thread, in order of time.
    #[serde(default)]
    pub thread: Vec<ThreadMessage>,
}

/// One attached file, as far as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its file name.
    pub name: String,
    /// Its text, as far as it was read.
    pub text: String,
    /// What was not read, with the numbers, in one sentence; empty where all was read.
    #[serde(default)]
    pub note: String,
}

/// One message of the thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadMessage {
    /// Who wrote it, by display name.
    pub author: String,
    /// What was written.
    pub text: String,
    /// When.
    pub at: Timestamp,
    /// It was put to the bot as a question.
    #[serde(default)]
    pub asks: bool,
}

impl Report {
    /// A report that is only its text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Each part with whose word it is: `None` for the report and its attachments, else the author.
    pub fn parts(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        std::iter::once((None, self.text.as_str()))
            .chain(
                self.attachments
                    .iter()
                    .map(|file| (None, file.text.as_str())),
            )
            .chain(
                self.thread
                    .iter()
                    .map(|message| (Some(message.author.as_str()), message.text.as_str())),
            )
    }

    /// All parts, a blank line between two.
    pub fn all_text(&self) -> String {
        let parts: Vec<&str> = self.parts().map(|(_, text)| text).collect();
        parts.join("\n\n")
    }

    /// What people wrote, without the attached files: the report and the thread.
    pub fn told(&self) -> String {
        let thread = self.thread.iter().map(|message| message.text.as_str());
        let all: Vec<&str> = std::iter::once(self.text.as_str()).chain(thread).collect();
        all.join("\n\n")
    }

    /// Lines of attached logs (R26 counts them).
    pub fn log_lines(&self) -> usize {
        self.attachments
            .iter()
            .map(|file| file.text.lines().count())
            .sum()
    }
}
