//! Message payloads as JSON, within Discord's limits.
//!
//! Wanted: what leaves here is accepted by Discord as it stands. Design: limits are constants with
//! their source; [`Message::post`] writes every key that an edit in place needs (an absent
//! `components` would leave old buttons), and nothing else. Composition keeps within the limits
//! before it comes here; lengths that a caller got wrong are cut here once more, so that no
//! payload is ever refused for a length.
//!
//! Deliberately absent: mentions. `allowed_mentions` is empty on everything.

use super::custom_id::Action;
use super::escape::{cut, width};
use super::{File, Post, Slot};
use serde_json::{Value, json};

/// Characters of `content` (message.mdx: 2,000 for bots).
pub const CONTENT: usize = 2_000;
/// Characters of an embed's title.
pub const EMBED_TITLE: usize = 256;
/// Characters of an embed's description.
pub const EMBED_DESCRIPTION: usize = 4_096;
/// Characters of an embed's author line.
pub const EMBED_AUTHOR: usize = 256;
/// Characters of an embed's footer.
pub const EMBED_FOOTER: usize = 2_048;
/// Characters over all embeds of one message (message.mdx).
pub const EMBEDS_TOTAL: usize = 6_000;
/// Embeds of one message.
pub const EMBEDS: usize = 10;
/// Action rows of one message.
pub const ROWS: usize = 5;
/// Buttons of one row.
pub const BUTTONS: usize = 5;
/// Options of a select.
pub const OPTIONS: usize = 25;
/// Characters of a button's label.
pub const BUTTON_LABEL: usize = 80;
/// Characters of an option's label, value and description.
pub const OPTION_TEXT: usize = 100;
/// Characters of a select's placeholder.
pub const PLACEHOLDER: usize = 150;
/// Characters of a modal's title and of an input's label.
pub const MODAL_TITLE: usize = 45;
/// Characters of a text input's value.
pub const INPUT_VALUE: usize = 4_000;
/// Characters of a text input's placeholder.
pub const INPUT_PLACEHOLDER: usize = 100;

/// Flag of a message that one person alone sees.
const EPHEMERAL: u64 = 1 << 6;

/// One embed. Empty parts are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embed {
    /// The small line above the title; no Markdown.
    pub author: String,
    /// The title.
    pub title: String,
    /// The text.
    pub description: String,
    /// The colour of the bar.
    pub color: u32,
    /// The small line below; no Markdown.
    pub footer: String,
}

impl Embed {
    /// Characters that count for [`EMBEDS_TOTAL`].
    pub fn width(&self) -> usize {
        width(&self.author) + width(&self.title) + width(&self.description) + width(&self.footer)
    }

    fn json(&self) -> Value {
        let mut embed = json!({ "color": self.color });
        let mut put = |key: &str, value: Value| {
            if let Some(map) = embed.as_object_mut() {
                map.insert(key.to_owned(), value);
            }
        };
        if !self.author.is_empty() {
            put("author", json!({ "name": cut(&self.author, EMBED_AUTHOR) }));
        }
        if !self.title.is_empty() {
            put("title", json!(cut(&self.title, EMBED_TITLE)));
        }
        if !self.description.is_empty() {
            put(
                "description",
                json!(cut(&self.description, EMBED_DESCRIPTION)),
            );
        }
        if !self.footer.is_empty() {
            put("footer", json!({ "text": cut(&self.footer, EMBED_FOOTER) }));
        }
        embed
    }
}

/// How a button looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The one to press.
    Primary,
    /// One among several.
    Secondary,
    /// Chosen, or good.
    Success,
    /// Bad news.
    Danger,
}

/// A button.
#[derive(Clone, Debug)]
pub struct Button {
    /// What it does.
    pub action: Action,
    /// What it says.
    pub label: String,
    /// How it looks.
    pub style: Style,
    /// It can't be pressed.
    pub disabled: bool,
}

impl Button {
    /// A plain button.
    pub fn new(action: Action, label: impl Into<String>) -> Self {
        Self {
            action,
            label: label.into(),
            style: Style::Secondary,
            disabled: false,
        }
    }

    /// With another look.
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Switched off, if `off`.
    pub fn off(mut self, off: bool) -> Self {
        self.disabled = off;
        self
    }

    fn json(&self) -> Value {
        let style = match self.style {
            Style::Primary => 1,
            Style::Secondary => 2,
            Style::Success => 3,
            Style::Danger => 4,
        };
        let mut button = json!({
            "type": 2, "style": style, "label": cut(&self.label, BUTTON_LABEL),
            "custom_id": self.action.encode(),
        });
        if self.disabled
            && let Some(map) = button.as_object_mut()
        {
            map.insert("disabled".into(), json!(true));
        }
        button
    }
}

/// One option of a select.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What the interaction carries.
    pub value: String,
    /// What is read.
    pub label: String,
    /// A second, smaller line; may be empty.
    pub description: String,
    /// Chosen already.
    pub chosen: bool,
}

/// A row of a message.
#[derive(Clone, Debug)]
pub enum Row {
    /// Up to five buttons.
    Buttons(Vec<Button>),
    /// One select of up to 25 choices.
    Select {
        /// What it does.
        action: Action,
        /// What it says while nothing is chosen.
        placeholder: String,
        /// The choices; none: no row.
        choices: Vec<Choice>,
        /// Any number may be chosen, else one.
        many: bool,
        /// It can't be used.
        disabled: bool,
    },
}

impl Row {
    fn json(&self) -> Option<Value> {
        let components = match self {
            Self::Buttons(buttons) if buttons.is_empty() => return None,
            Self::Buttons(buttons) => buttons.iter().take(BUTTONS).map(Button::json).collect(),
            Self::Select { choices, .. } if choices.is_empty() => return None,
            Self::Select {
                action,
                placeholder,
                choices,
                many,
                disabled,
            } => {
                let options: Vec<Value> = choices.iter().take(OPTIONS).map(option).collect();
                let (min, max) = if *many { (0, options.len()) } else { (1, 1) };
                vec![json!({
                    "type": 3, "custom_id": action.encode(),
                    "placeholder": cut(placeholder, PLACEHOLDER),
                    "options": options, "min_values": min, "max_values": max,
                    "disabled": disabled,
                })]
            }
        };
        Some(json!({ "type": 1, "components": components }))
    }
}

fn option(choice: &Choice) -> Value {
    let label = cut(&choice.label, OPTION_TEXT);
    let mut option = json!({
        "label": if label.trim().is_empty() { "…".to_owned() } else { label },
        "value": cut(&choice.value, OPTION_TEXT),
        "default": choice.chosen,
    });
    if !choice.description.trim().is_empty()
        && let Some(map) = option.as_object_mut()
    {
        map.insert(
            "description".into(),
            json!(cut(&choice.description, OPTION_TEXT)),
        );
    }
    option
}

/// A message before it is JSON.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// Text above the embeds.
    pub content: String,
    /// At most ten.
    pub embeds: Vec<Embed>,
    /// At most five; rows without a button or a choice are left out.
    pub rows: Vec<Row>,
    /// Attached files.
    pub files: Vec<File>,
}

impl Message {
    /// Characters of all embeds together.
    pub fn embeds_width(&self) -> usize {
        self.embeds.iter().map(Embed::width).sum()
    }

    /// Whether no limit of Discord is passed.
    pub fn fits(&self) -> bool {
        width(&self.content) <= CONTENT
            && self.embeds.len() <= EMBEDS
            && self.embeds_width() <= EMBEDS_TOTAL
            && self.embeds.iter().all(|embed| {
                width(&embed.description) <= EMBED_DESCRIPTION
                    && width(&embed.title) <= EMBED_TITLE
                    && width(&embed.author) <= EMBED_AUTHOR
                    && width(&embed.footer) <= EMBED_FOOTER
            })
    }

    /// The payload, ready to be sent or edited in.
    pub fn post(self, slot: Slot) -> Post {
        let embeds: Vec<Value> = self.embeds.iter().take(EMBEDS).map(Embed::json).collect();
        let rows: Vec<Value> = self.rows.iter().filter_map(Row::json).take(ROWS).collect();
        let attachments: Vec<Value> = self
            .files
            .iter()
            .enumerate()
            .map(|(id, file)| json!({ "id": id, "filename": file.name }))
            .collect();
        let mut payload = json!({
            "content": cut(&self.content, CONTENT),
            "embeds": embeds,
            "components": rows,
            "attachments": attachments,
            "allowed_mentions": { "parse": [] },
        });
        if slot == Slot::Private {
            make_private(&mut payload);
        }
        Post {
            slot,
            payload,
            files: self.files,
        }
    }
}

/// Marks a payload as seen by one person alone.
pub(super) fn make_private(payload: &mut Value) {
    if let Some(map) = payload.as_object_mut() {
        map.insert("flags".into(), json!(EPHEMERAL));
    }
}
