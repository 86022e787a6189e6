//! What a person gets back after a command, a click or a submitted modal.

use std::time::Duration;

use serde_json::Value;

use crate::handle::Discord;
use crate::ids::{InteractionId, MessageId, UserId};
use crate::post::Post;
use crate::rules::integer;
use crate::world::{self, World};

/// A handle on an interaction that a person started.
#[derive(Clone, Debug)]
pub struct Interaction {
    discord: Discord,
    /// Its id.
    pub id: InteractionId,
    /// Who started it.
    pub who: UserId,
}

/// The first answer to an interaction.
#[derive(Clone, Debug)]
pub enum Response {
    /// A message.
    Message(Box<Post>),
    /// "Thinking"; the answer comes later.
    Deferred {
        /// Whether only the person sees it.
        ephemeral: bool,
    },
    /// Acknowledged, nothing to see.
    DeferredUpdate,
    /// The message with the component, changed.
    Update(Box<Post>),
    /// Completions.
    Choices(Vec<Choice>),
    /// A modal opened.
    Modal(Modal),
}

/// One completion.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What the person sees.
    pub name: String,
    /// What is sent.
    pub value: Value,
}

/// A modal as it opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modal {
    /// Its title.
    pub title: String,
    /// Its custom id.
    pub custom_id: String,
    /// Its fields, in order.
    pub fields: Vec<ModalField>,
}

/// A text field of a modal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModalField {
    /// Its custom id.
    pub custom_id: String,
    /// What it says above.
    pub label: String,
    /// What it says while empty.
    pub placeholder: String,
    /// What is filled in.
    pub value: String,
    /// Whether it must be filled in.
    pub required: bool,
    /// Whether it has several lines.
    pub paragraph: bool,
    /// Least and most characters.
    pub length: (usize, usize),
}

impl Modal {
    pub(crate) fn of(data: &Value) -> Self {
        let text =
            |v: &Value, key: &str| v.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let rows = data.get("components").and_then(Value::as_array);
        let fields = rows
            .into_iter()
            .flatten()
            .filter_map(|row| row.get("components").and_then(Value::as_array))
            .flatten()
            .map(|input| {
                let bound = |key: &str, default: usize| {
                    input
                        .get(key)
                        .and_then(integer)
                        .and_then(|n| usize::try_from(n).ok())
                        .unwrap_or(default)
                };
                ModalField {
                    custom_id: text(input, "custom_id"),
                    label: text(input, "label"),
                    placeholder: text(input, "placeholder"),
                    value: text(input, "value"),
                    required: input.get("required").and_then(Value::as_bool) != Some(false),
                    paragraph: input.get("style").and_then(integer) == Some(2),
                    length: (bound("min_length", 0), bound("max_length", 4000)),
                }
            })
            .collect();
        Self {
            title: text(data, "title"),
            custom_id: text(data, "custom_id"),
            fields,
        }
    }

    /// The field with that custom id or label.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&ModalField> {
        self.fields
            .iter()
            .find(|f| f.custom_id == name)
            .or_else(|| self.fields.iter().find(|f| f.label == name))
    }

    /// The modal as text: title, then each field with its label and what is filled in.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut lines = vec![format!("# {}", self.title)];
        for field in &self.fields {
            let star = if field.required { "*" } else { "" };
            let value = if field.value.is_empty() {
                format!("({})", field.placeholder)
            } else {
                field.value.clone()
            };
            lines.push(format!("{}{star}: {value}", field.label));
        }
        lines.join("\n")
    }
}

impl Interaction {
    pub(crate) fn new(discord: Discord, id: u64, who: u64) -> Self {
        Self {
            discord,
            id: InteractionId(id),
            who: UserId(who),
        }
    }

    async fn acknowledged(&self, what: &str) -> world::Response {
        let title = self.title();
        let id = self.id.0;
        let response = self
            .discord
            .wait_for(&format!("{what} to {title}"), |w| {
                w.interactions.get(&id)?.response.clone()
            })
            .await;
        self.note_read();
        response
    }

    fn note_read(&self) {
        self.discord.core.with(|w| {
            if let Some(interaction) = w.interactions.get_mut(&self.id.0) {
                interaction.response_read = true;
            }
        });
    }

    /// What it was: `/analyze`, `button "Worked"`, ...
    #[must_use]
    pub fn title(&self) -> String {
        self.discord.core.look(|w| {
            w.interactions
                .get(&self.id.0)
                .map_or_else(String::new, |i| i.title.clone())
        })
    }

    /// Whether the bot has answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.discord.core.look(|w| {
            w.interactions
                .get(&self.id.0)
                .is_some_and(|i| i.response.is_some())
        })
    }

    /// Real time from when the bot was told (the event went to its connection) to when the request
    /// with its first answer arrived. What the double itself does before and after is in neither.
    #[must_use]
    pub fn answered_after(&self) -> Option<Duration> {
        self.discord.core.look(|w| {
            let interaction = w.interactions.get(&self.id.0)?;
            Some(interaction.responded?.duration_since(interaction.told?))
        })
    }

    /// Waits for the first answer and reads it.
    ///
    /// # Panics
    /// Where none comes in time.
    pub async fn response(&self) -> Response {
        let response = self.acknowledged("the first answer").await;
        self.read(response).await
    }

    /// As [`Interaction::response`]; `None` where none comes in time.
    pub async fn try_response(&self) -> Option<Response> {
        let id = self.id.0;
        let response = self
            .discord
            .try_wait_for(|w| w.interactions.get(&id)?.response.clone())
            .await?;
        self.note_read();
        Some(self.read(response).await)
    }

    async fn read(&self, response: world::Response) -> Response {
        match response {
            world::Response::Message => Response::Message(Box::new(self.read_original().await)),
            world::Response::Update => Response::Update(Box::new(self.read_original().await)),
            world::Response::DeferredUpdate => Response::DeferredUpdate,
            world::Response::Deferred => Response::Deferred {
                ephemeral: self.discord.core.look(|w| {
                    self.original_of(w)
                        .is_some_and(|m| m.ephemeral_for.is_some())
                }),
            },
            world::Response::Choices(list) => Response::Choices(choices(&list)),
            world::Response::Modal(data) => Response::Modal(Modal::of(&data)),
        }
    }

    fn original_of<'w>(&self, w: &'w World) -> Option<&'w world::Message> {
        let id = w.interactions.get(&self.id.0)?.original?;
        w.messages.get(&id)
    }

    async fn read_original(&self) -> Post {
        let what = format!("the answer to {}", self.title());
        let post = self
            .discord
            .wait_for(&what, |w| {
                self.original_of(w)
                    .filter(|m| !m.is_loading())
                    .map(|m| Post::of(w, m))
            })
            .await;
        self.discord.mark_read(post.id);
        post
    }

    /// Waits for the whole first answer: the message of the callback, or the one that
    /// completed a deferral, or the message whose component was used.
    ///
    /// # Panics
    /// Where none comes in time, or the answer is a modal or completions.
    pub async fn original(&self) -> Post {
        let response = self.acknowledged("the first answer").await;
        assert!(
            !matches!(
                response,
                world::Response::Choices(_) | world::Response::Modal(_)
            ),
            "{} was answered without a message: {response:?}",
            self.title()
        );
        self.read_original().await
    }

    /// As [`Interaction::original`], for an answer that only the person sees.
    ///
    /// # Panics
    /// Where the answer is for everybody.
    pub async fn ephemeral(&self) -> Post {
        let post = self.original().await;
        assert!(
            post.ephemeral_for == Some(self.who),
            "the answer to {} was for everybody:\n{post}",
            self.title()
        );
        post
    }

    /// Waits for a modal.
    ///
    /// # Panics
    /// Where something else comes.
    pub async fn modal(&self) -> Modal {
        match self.acknowledged("a modal in answer").await {
            world::Response::Modal(data) => Modal::of(&data),
            other => panic!(
                "{} opened no modal but answered {other:?}\n{}",
                self.title(),
                self.discord.story()
            ),
        }
    }

    /// Waits for completions.
    ///
    /// # Panics
    /// Where something else comes.
    pub async fn choices(&self) -> Vec<Choice> {
        match self.acknowledged("completions").await {
            world::Response::Choices(list) => choices(&list),
            other => panic!("{} was answered with {other:?}", self.title()),
        }
    }

    /// The follow-up messages so far; marks them as read.
    #[must_use]
    pub fn followups(&self) -> Vec<Post> {
        self.discord.core.with(|w| {
            let ids = w
                .interactions
                .get(&self.id.0)
                .map(|i| i.followups.clone())
                .unwrap_or_default();
            for id in &ids {
                if let Some(message) = w.messages.get_mut(id) {
                    message.read = true;
                }
            }
            ids.iter()
                .filter_map(|id| w.messages.get(id))
                .filter(|m| !m.deleted)
                .map(|m| Post::of(w, m))
                .collect()
        })
    }

    /// Waits for the next unread follow-up message and marks it as read.
    ///
    /// # Panics
    /// Where none comes in time.
    pub async fn next_followup(&self) -> Post {
        let what = format!("a follow-up to {}", self.title());
        let post = self
            .discord
            .wait_for(&what, |w| {
                w.interactions
                    .get(&self.id.0)?
                    .followups
                    .iter()
                    .filter_map(|id| w.messages.get(id))
                    .find(|m| !m.read && !m.deleted)
                    .map(|m| Post::of(w, m))
            })
            .await;
        self.discord.mark_read(post.id);
        post
    }

    /// The message that `@original` means now, if there is one.
    #[must_use]
    pub fn original_id(&self) -> Option<MessageId> {
        self.discord
            .core
            .look(|w| w.interactions.get(&self.id.0)?.original.map(MessageId))
    }

    /// Nobody waits for an answer: its absence is no fault (the bot was killed).
    pub fn forget(&self) {
        self.discord.core.with(|w| {
            if let Some(interaction) = w.interactions.get_mut(&self.id.0) {
                interaction.forgotten = true;
            }
        });
    }
}

fn choices(list: &[Value]) -> Vec<Choice> {
    list.iter()
        .map(|choice| Choice {
            name: choice
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned(),
            value: choice.get("value").cloned().unwrap_or_default(),
        })
        .collect()
}
