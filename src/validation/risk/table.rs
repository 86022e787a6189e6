//! The table of programs and their verbs, read once from `programs.txt`, which says its own format.

use crate::incident::proposal::Risk;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What is known of a program.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// Flags whose value is the next word.
    takes: HashSet<String>,
    verbs: Vec<(Vec<String>, Risk)>,
    flags: Vec<(String, Risk)>,
    /// Flags with which nothing is changed.
    only: Vec<String>,
    /// The risk whatever the arguments, for programs without verbs.
    always: Option<Risk>,
}

static PROGRAMS: LazyLock<HashMap<String, Program>> =
    LazyLock::new(|| read(include_str!("programs.txt")));

/// What is known of a program; `None` for an unknown one, which is risky.
pub(super) fn program(name: &str) -> Option<&'static Program> {
    PROGRAMS.get(name)
}

fn risk_word(word: &str) -> Option<Risk> {
    match word {
        "read" | "reads" => Some(Risk::ReadOnly),
        "reversible" | "reversibles" => Some(Risk::Reversible),
        "risky" | "riskies" => Some(Risk::Risky),
        "destructive" | "destructives" => Some(Risk::Destructive),
        _ => None,
    }
}

fn read(text: &str) -> HashMap<String, Program> {
    let mut programs: HashMap<String, Program> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let words = |rest: &str| {
        rest.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for line in text.lines() {
        let Some((head, rest)) = line.trim().split_once(' ') else {
            continue;
        };
        if head == "#" {
            continue;
        }
        if head == "program" {
            names = words(rest);
            for name in &names {
                programs.entry(name.clone()).or_default();
            }
            continue;
        }
        if head.ends_with('s')
            && head != "takes"
            && let Some(risk) = risk_word(head)
        {
            for name in words(rest) {
                programs.entry(name).or_default().always = Some(risk);
            }
            continue;
        }
        for name in &names {
            let program = programs.entry(name.clone()).or_default();
            match head {
                "takes" => program.takes.extend(words(rest)),
                "only" => program.only.extend(words(rest)),
                "flag" => {
                    if let Some((risk, flags)) = rest.split_once(' ')
                        && let Some(risk) = risk_word(risk)
                    {
                        program
                            .flags
                            .extend(words(flags).into_iter().map(|f| (f, risk)));
                    }
                }
                _ => {
                    if let Some(risk) = risk_word(head) {
                        for verb in rest.split(',') {
                            program.verbs.push((
                                words(verb).iter().map(|w| w.to_lowercase()).collect(),
                                risk,
                            ));
                        }
                    }
                }
            }
        }
    }
    programs
}

impl Program {
    /// The risk of the program with these arguments.
    pub(super) fn risk(&self, arguments: &[String]) -> Risk {
        if let Some(always) = self.always {
            return always;
        }
        let raised = self
            .flags
            .iter()
            .filter(|(flag, _)| arguments.iter().any(|a| flag_matches(flag, a)))
            .map(|(_, risk)| *risk)
            .max();
        let only = self
            .only
            .iter()
            .find(|flag| arguments.iter().any(|a| flag_matches(flag, a)));
        if let Some(flag) = only {
            let rehearsal = ["dry", "simulate", "no-execute"]
                .iter()
                .any(|word| flag.contains(word));
            if rehearsal || raised.is_none_or(|risk| risk < Risk::Destructive) {
                return Risk::ReadOnly;
            }
        }
        let verb = self.verb(arguments);
        raised.map_or(verb, |risk| risk.max(verb))
    }

    /// The words that are neither flags nor the values of flags.
    pub(super) fn words<'a>(&self, arguments: &'a [String]) -> Vec<&'a str> {
        let mut words = Vec::new();
        let mut skip = false;
        for argument in arguments {
            if skip {
                skip = false;
                continue;
            }
            if self.takes.contains(argument) {
                skip = true;
                continue;
            }
            let verb_like = argument.starts_with('-')
                && self
                    .verbs
                    .iter()
                    .any(|(verb, _)| verb.first().is_some_and(|first| first == argument));
            if !argument.starts_with('-') || verb_like {
                words.push(argument.as_str());
            }
        }
        words
    }

    fn verb(&self, arguments: &[String]) -> Risk {
        let words: Vec<String> = self
            .words(arguments)
            .into_iter()
            .map(str::to_lowercase)
            .collect();
        let mut best: Option<((usize, usize), Risk)> = None;
        for (verb, risk) in &self.verbs {
            let Some(rank) = verb_rank(verb, &words) else {
                continue;
            };
            best = match best {
                Some((other, known)) if other > rank => Some((other, known)),
                Some((other, known)) if other == rank => Some((other, known.max(*risk))),
                _ => Some((rank, *risk)),
            };
        }
        best.map_or(Risk::Risky, |(_, risk)| risk)
    }
}

/// How well a verb fits: the number of its words and of those that are no `*`.
fn verb_rank(verb: &[String], words: &[String]) -> Option<(usize, usize)> {
    match verb {
        [dot] if dot == "." => words.is_empty().then_some((0, 0)),
        [dots, word] if dots == ".." => words
            .iter()
            .any(|w| word_matches(word, w))
            .then_some((1, 1)),
        _ => {
            if verb.len() > words.len() {
                return None;
            }
            verb.iter()
                .zip(words)
                .all(|(pattern, word)| word_matches(pattern, word))
                .then(|| (verb.len(), verb.iter().filter(|p| *p != "*").count()))
        }
    }
}

fn word_matches(pattern: &str, word: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => pattern == word,
    }
}

fn flag_matches(flag: &str, argument: &str) -> bool {
    if flag == "*=*" {
        return !argument.starts_with('-') && argument.contains('=');
    }
    if let Some(start) = flag.strip_suffix('*') {
        return argument.starts_with(start);
    }
    if flag.ends_with('=') && !flag.starts_with('-') {
        return argument.starts_with(flag);
    }
    if argument == flag {
        return true;
    }
    if let Some(rest) = argument.strip_prefix(flag) {
        return rest.starts_with('=') || rest.starts_with(':');
    }
    // `-rf` holds `-f`: short flags stand together.
    let mut letters = flag.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('-'), Some(letter), None) if letter.is_ascii_alphabetic() => {
            argument.starts_with('-')
                && !argument.starts_with("--")
                && argument.len() <= 4
                && argument.chars().skip(1).all(|c| c.is_ascii_alphabetic())
                && argument.contains(letter)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let directives = [
            "program",
            "takes",
            "read",
            "reversible",
            "risky",
            "destructive",
            "flag",
            "only",
            "reads",
            "reversibles",
            "riskies",
            "destructives",
            "#",
        ];
        for line in include_str!("programs.txt")
            .lines()
            .filter(|l| !l.is_empty())
        {
            let head = line.split(' ').next().unwrap_or_default();
            assert!(directives.contains(&head), "{line}");
        }
        assert!(PROGRAMS.len() > 400, "{}", PROGRAMS.len());
        for (name, program) in PROGRAMS.iter() {
            assert!(
                program.always.is_none() || program.verbs.is_empty(),
                "{name} stands both in a list and as an entry"
            );
            assert!(
                program.always.is_some() || !program.verbs.is_empty() || !program.only.is_empty(),
                "{name} says nothing"
            );
        }
    }
}
