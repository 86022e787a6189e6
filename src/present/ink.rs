//! One composition, two papers: Discord's Markdown, and plain text.
//!
//! Text of others goes through [`Ink::text`] or [`Ink::code`] and nowhere else, with the room it
//! may take; what had to be cut is remembered, so that the message can say so. Plain text is never
//! cut. Times are Discord's own stamps there (each reader sees local time), and UTC here.

use super::escape::{code_span, fitted, inline, plain};
use super::say;
use crate::incident::Locale;
use crate::incident::link::web_address;
use crate::incident::proposal::Risk;
use crate::validation::risk;
use jiff::Timestamp;
use std::cell::Cell;

/// Where a text will stand.
#[derive(Debug)]
pub struct Ink {
    discord: bool,
    /// The language.
    pub locale: Locale,
    now: Timestamp,
    cut: Cell<bool>,
}

impl Ink {
    /// For embeds and content.
    pub fn discord(locale: Locale, now: Timestamp) -> Self {
        Self {
            discord: true,
            locale,
            now,
            cut: Cell::new(false),
        }
    }

    /// For files and the command line.
    pub fn plain(locale: Locale, now: Timestamp) -> Self {
        Self {
            discord: false,
            locale,
            now,
            cut: Cell::new(false),
        }
    }

    /// Whether anything was cut so far.
    pub fn has_cut(&self) -> bool {
        self.cut.get()
    }

    /// Something was left out.
    pub fn note_cut(&self) {
        self.cut.set(true);
    }

    /// Text of others, as text. What destroys stands in no code that its author gave it (R18): on
    /// Discord back ticks don't act, a file may be read as Markdown.
    pub fn text(&self, text: &str, room: usize) -> String {
        if !self.discord && text.contains('`') && risk::is_destructive_text(text) {
            return plain(&text.replace('`', ""));
        }
        self.fit(text, room, if self.discord { inline } else { plain })
    }

    /// Text of others, as code. A destructive command stands in no code, whoever wrote it and
    /// wherever: quotes, signatures and log lines are copied by a tap like commands (R18).
    pub fn code(&self, text: &str, room: usize) -> String {
        let out = self.fit(text, room, code_span);
        // What is copied is what is shown: also where escaping made a command of it, and from one back
        // tick of the text's own to the next.
        if destroys(text) || out.split('`').any(destroys) || destroys(out.trim_matches('`')) {
            return self.text(text, room);
        }
        out
    }

    /// An address that leads somewhere, without a picture of it; what is no plain address is text.
    pub fn link(&self, address: &str) -> String {
        match web_address(address) {
            Some(address) if self.discord => format!("<{address}>"),
            Some(address) => address,
            None => self.text(address, 200),
        }
    }

    fn fit(&self, text: &str, room: usize, render: fn(&str) -> String) -> String {
        if !self.discord {
            return render(text);
        }
        let (out, was_cut) = fitted(text, room, render);
        if was_cut {
            self.note_cut();
        }
        out
    }

    /// Our own words, strongly.
    pub fn bold(&self, words: &str) -> String {
        if self.discord {
            format!("**{words}**")
        } else {
            words.to_owned()
        }
    }

    /// A label before a value, or above a list.
    pub fn label(&self, words: &str) -> String {
        if self.discord {
            format!("**{words}**")
        } else {
            match self.locale {
                Locale::En => format!("{words}:"),
                Locale::Zh => format!("{words}："),
            }
        }
    }

    /// A day: `14 May 2026`.
    pub fn day(&self, at: Timestamp) -> String {
        if self.discord {
            format!("<t:{}:D>", at.as_second())
        } else {
            say::day(self.locale, at)
        }
    }

    /// A time of day, with its zone where it is not the reader's own.
    pub fn clock(&self, at: Timestamp) -> String {
        if self.discord {
            format!("<t:{}:t>", at.as_second())
        } else {
            say::clock(self.locale, at)
        }
    }

    /// A distance from now: `12 days ago`.
    pub fn ago(&self, at: Timestamp) -> String {
        if self.discord {
            format!("<t:{}:R>", at.as_second())
        } else {
            say::ago(self.locale, at, self.now)
        }
    }
}

fn destroys(text: &str) -> bool {
    risk::of_command(text) == Risk::Destructive || risk::is_destructive_text(text)
}
