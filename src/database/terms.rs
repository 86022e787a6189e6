//! How the words of a guild stand in PostgreSQL's index.
//!
//! Wanted: a search walks no other guild's words, and finds `Mémoire` for `memoire`, as SQLite's
//! index does by itself.

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// What stands before each word of a guild: two guilds with the same mark would only be slower.
pub fn guild_mark(guild: &str) -> String {
    let hash = Sha256::digest(guild.as_bytes());
    let mut mark: String = hash
        .iter()
        .take(3)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    mark.push(':');
    mark
}

/// A token behind its guild's mark, its Latin letters without accents.
pub fn term(mark: &str, token: &str) -> String {
    let mut term = String::with_capacity(mark.len() + token.len());
    term.push_str(mark);
    for letter in token.chars() {
        let plain = [letter].into_iter().nfd().next().unwrap_or(letter);
        term.push(if plain.is_ascii_alphabetic() {
            plain
        } else {
            letter
        });
    }
    term
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_a_marked_token_without_accents() {
        for (token, expected) in [
            ("mémoire", "g:memoire"),
            ("pool_1", "g:pool_1"),
            ("超时", "g:超时"),
            ("がく", "g:がく"),
            ("", "g:"),
        ] {
            assert_eq!(term("g:", token), expected);
        }
        assert_ne!(guild_mark("1"), guild_mark("2"));
        assert_eq!(guild_mark("1").len(), 7);
    }
}
