//! The rules that Discord holds a request body to, by subject.
//!
//! Pure: a body goes in, form errors and unknown keys come out. Numbers: Discord
//! documentation (resources/message, components/reference,
//! interactions/receiving-and-responding and application-commands). Lengths are counted
//! in Unicode code points. What Discord's machine-readable description also encodes is
//! repeated here, because the double has to answer as Discord does where that
//! description is not at hand.
//!
//! Not stricter than Discord: `embeds[].type` may be sent, `attachments: []` may be
//! sent, numbers may come as strings where the API takes both.

use serde_json::Value;

use crate::refusal::FormError;

/// Characters of `content`, on every route.
pub const CONTENT: usize = 2000;
/// Embeds of one message.
pub const EMBEDS: usize = 10;
/// Characters over all embeds of one message.
pub const EMBED_TOTAL: usize = 6000;
/// Fields of one embed.
pub const EMBED_FIELDS: usize = 25;
/// Action rows of one message, or of a classic modal.
pub const ROWS: usize = 5;
/// Buttons of one row.
pub const BUTTONS: usize = 5;
/// Options of one select.
pub const SELECT_OPTIONS: usize = 25;
/// Bytes of one file without boosts.
pub const FILE_BYTES: usize = 10 * 1024 * 1024;
/// Bytes of one request.
pub const REQUEST_BYTES: usize = 25 * 1024 * 1024;
/// Files of one message.
pub const FILES: usize = 10;
/// Characters of one command, with names, descriptions and choices.
pub const COMMAND_TOTAL: usize = 8000;
/// `flags`: only the invoker sees it.
pub const EPHEMERAL: u64 = 1 << 6;
/// `flags`: no link previews.
pub const SUPPRESS_EMBEDS: u64 = 1 << 2;
/// `flags`: no push notification.
pub const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;
/// `flags`: layout components instead of content and embeds.
pub const COMPONENTS_V2: u64 = 1 << 15;

/// Which kind of body a message stands in; the keys differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageBody {
    /// `POST /channels/{id}/messages`
    Create,
    /// `PATCH /channels/{id}/messages/{id}`
    Edit,
    /// `POST /webhooks/{id}/{token}`
    Followup,
    /// `PATCH /webhooks/{id}/{token}/messages/...`
    WebhookEdit,
    /// `data` of callbacks 4 and 7
    Callback,
}

impl MessageBody {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Create => &[
                "content",
                "nonce",
                "tts",
                "embeds",
                "allowed_mentions",
                "message_reference",
                "components",
                "sticker_ids",
                "attachments",
                "flags",
                "enforce_nonce",
                "poll",
            ],
            Self::Edit => &[
                "content",
                "embeds",
                "flags",
                "allowed_mentions",
                "components",
                "attachments",
            ],
            Self::Followup => &[
                "content",
                "username",
                "avatar_url",
                "tts",
                "embeds",
                "allowed_mentions",
                "components",
                "attachments",
                "flags",
                "thread_name",
                "applied_tags",
                "poll",
            ],
            Self::WebhookEdit => &[
                "content",
                "embeds",
                "flags",
                "allowed_mentions",
                "components",
                "attachments",
                "poll",
            ],
            Self::Callback => &[
                "tts",
                "content",
                "embeds",
                "allowed_mentions",
                "flags",
                "components",
                "attachments",
                "poll",
            ],
        }
    }
}

/// What was found in a body.
#[derive(Debug, Default)]
pub(crate) struct Form {
    pub errors: Vec<FormError>,
    /// Keys that Discord does not know: ignored by the API, a mistake in the bot.
    pub unknown: Vec<String>,
}

fn join(path: &str, key: impl std::fmt::Display) -> String {
    if path.is_empty() {
        key.to_string()
    } else {
        format!("{path}.{key}")
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// An integer, or a string that holds one: the API takes both for ids and bit sets.
pub(crate) fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Number(n) => n.as_u64(),
        Value::String(s) => s.parse().ok(),
        _ => None,
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

impl Form {
    pub fn error(&mut self, path: &str, code: &'static str, message: impl Into<String>) {
        self.errors.push(FormError {
            path: path.to_owned(),
            code,
            message: message.into(),
        });
    }

    /// Notes keys outside `known`; a body that is no object is a form error.
    fn keys(&mut self, path: &str, value: &Value, known: &[&str]) -> bool {
        let Some(map) = value.as_object() else {
            self.error(
                path,
                "MODEL_TYPE_CONVERT",
                "Only dictionaries may be used in a ModelType",
            );
            return false;
        };
        for key in map.keys().filter(|k| !known.contains(&k.as_str())) {
            self.unknown.push(join(path, key));
        }
        true
    }

    fn required(&mut self, path: &str) {
        self.error(path, "BASE_TYPE_REQUIRED", "This field is required");
    }

    /// A text of at most `most` characters and, where it must be there, at least one.
    fn text(&mut self, path: &str, parent: &Value, key: &str, least: usize, most: usize) {
        let at = join(path, key);
        match parent.get(key) {
            None | Some(Value::Null) => {
                if least > 0 {
                    self.required(&at);
                }
            }
            Some(Value::String(text)) => {
                let length = characters(text);
                if least > 0 && text.trim().is_empty() {
                    self.required(&at);
                } else if length > most || length < least {
                    if least > 0 {
                        self.error(
                            &at,
                            "BASE_TYPE_BAD_LENGTH",
                            format!("Must be between {least} and {most} in length."),
                        );
                    } else {
                        self.error(
                            &at,
                            "BASE_TYPE_MAX_LENGTH",
                            format!("Must be {most} or fewer in length."),
                        );
                    }
                }
            }
            Some(_) => self.error(
                &at,
                "STRING_TYPE_CONVERT",
                "Could not interpret value as string.",
            ),
        }
    }

    fn optional_text(&mut self, path: &str, parent: &Value, key: &str, most: usize) {
        self.text(path, parent, key, 0, most);
    }

    fn count(&mut self, path: &str, found: usize, least: usize, most: usize) {
        if found < least || found > most {
            self.error(
                path,
                "BASE_TYPE_BAD_LENGTH",
                format!("Must be between {least} and {most} in length."),
            );
        }
    }

    fn list<'a>(&mut self, path: &str, value: Option<&'a Value>) -> &'a [Value] {
        match value {
            None | Some(Value::Null) => &[],
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.error(
                    path,
                    "LIST_TYPE_CONVERT",
                    "Only iterables may be used in a ListType",
                );
                &[]
            }
        }
    }

    fn url(&mut self, path: &str, parent: &Value, key: &str, most: usize) {
        self.optional_text(path, parent, key, most);
        if let Some(url) = parent.get(key).and_then(Value::as_str)
            && !["http://", "https://", "attachment://", "discord://"]
                .iter()
                .any(|scheme| url.starts_with(scheme))
        {
            self.error(
                &join(path, key),
                "URL_TYPE_INVALID_URL",
                "Not a well formed URL.",
            );
        }
    }

    /// A message in any of its bodies. `path` is `data` in a callback, else empty.
    pub fn message(&mut self, path: &str, body: &Value, kind: MessageBody, files: usize) {
        if !self.keys(path, body, kind.keys()) {
            return;
        }
        self.optional_text(path, body, "content", CONTENT);
        let flags = body.get("flags").and_then(integer).unwrap_or(0);
        let v2 = flags & COMPONENTS_V2 != 0;
        self.embeds(&join(path, "embeds"), body.get("embeds"));
        let components = self.list(&join(path, "components"), body.get("components"));
        if v2 {
            for key in ["content", "embeds", "poll"] {
                if body.get(key).is_some_and(|v| !is_blank(v)) {
                    self.error(
                        &join(path, key),
                        "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                        "The field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
                    );
                }
            }
            self.layout(&join(path, "components"), components);
        } else {
            self.rows(&join(path, "components"), components);
        }
        self.allowed_mentions(path, body);
        self.attachments(path, body, files);
        if let Some(reference) = body.get("message_reference").filter(|r| !r.is_null()) {
            let known = [
                "type",
                "message_id",
                "channel_id",
                "guild_id",
                "fail_if_not_exists",
            ];
            self.keys(&join(path, "message_reference"), reference, &known);
        }
        if let Some(nonce) = body.get("nonce").and_then(Value::as_str)
            && characters(nonce) > 25
        {
            self.error(
                &join(path, "nonce"),
                "NONCE_TYPE_TOO_LONG",
                "Nonce must be 25 or fewer in length.",
            );
        }
        if kind == MessageBody::Followup {
            self.optional_text(path, body, "username", 80);
            if let Some(name) = body.get("username").and_then(Value::as_str) {
                let lower = name.to_lowercase();
                if let Some(word) = ["clyde", "discord"].iter().find(|w| lower.contains(**w)) {
                    self.error(
                        &join(path, "username"),
                        "USERNAME_INVALID_CONTAINS",
                        format!("Username cannot contain \"{word}\""),
                    );
                }
            }
        }
    }

    fn embeds(&mut self, path: &str, embeds: Option<&Value>) {
        let embeds = self.list(path, embeds);
        if embeds.len() > EMBEDS {
            self.error(
                path,
                "BASE_TYPE_MAX_LENGTH",
                format!("Must be {EMBEDS} or fewer in length."),
            );
        }
        let mut total = 0;
        for (i, embed) in embeds.iter().enumerate() {
            let at = join(path, i);
            self.embed(&at, embed);
            total += embed_characters(embed);
        }
        if total > EMBED_TOTAL {
            self.error(
                path,
                "MAX_EMBED_SIZE_EXCEEDED",
                format!("Embed size exceeds maximum size of {EMBED_TOTAL}"),
            );
        }
    }

    fn embed(&mut self, at: &str, embed: &Value) {
        let known = [
            "title",
            "type",
            "description",
            "url",
            "timestamp",
            "color",
            "footer",
            "image",
            "thumbnail",
            "video",
            "provider",
            "author",
            "fields",
        ];
        if !self.keys(at, embed, &known) {
            return;
        }
        self.optional_text(at, embed, "title", 256);
        self.optional_text(at, embed, "description", 4096);
        self.url(at, embed, "url", 2048);
        if let Some(colour) = embed.get("color").filter(|c| !c.is_null())
            && integer(colour).is_none_or(|c| c > 0x00FF_FFFF)
        {
            self.error(
                &join(at, "color"),
                "NUMBER_TYPE_MAX",
                "int value should be less than or equal to 16777215.",
            );
        }
        if let Some(time) = embed.get("timestamp").and_then(Value::as_str)
            && time.parse::<jiff::Timestamp>().is_err()
        {
            self.error(
                &join(at, "timestamp"),
                "DATETIME_TYPE_PARSE_DATE",
                format!("Could not parse {time}. Should be ISO8601."),
            );
        }
        if let Some(footer) = embed.get("footer").filter(|v| !v.is_null()) {
            let at = join(at, "footer");
            if self.keys(&at, footer, &["text", "icon_url", "proxy_icon_url"]) {
                self.text(&at, footer, "text", 1, 2048);
                self.url(&at, footer, "icon_url", 2048);
            }
        }
        if let Some(author) = embed.get("author").filter(|v| !v.is_null()) {
            let at = join(at, "author");
            if self.keys(&at, author, &["name", "url", "icon_url", "proxy_icon_url"]) {
                self.text(&at, author, "name", 1, 256);
                self.url(&at, author, "url", 2048);
                self.url(&at, author, "icon_url", 2048);
            }
        }
        for key in ["image", "thumbnail", "video"] {
            if let Some(media) = embed.get(key).filter(|v| !v.is_null()) {
                let at = join(at, key);
                if self.keys(&at, media, &["url", "proxy_url", "height", "width"]) {
                    self.url(&at, media, "url", 2048);
                }
            }
        }
        let at = join(at, "fields");
        let fields = self.list(&at, embed.get("fields"));
        if fields.len() > EMBED_FIELDS {
            self.error(
                &at,
                "BASE_TYPE_MAX_LENGTH",
                format!("Must be {EMBED_FIELDS} or fewer in length."),
            );
        }
        for (i, field) in fields.iter().enumerate() {
            let at = join(&at, i);
            if self.keys(&at, field, &["name", "value", "inline"]) {
                self.text(&at, field, "name", 1, 256);
                self.text(&at, field, "value", 1, 1024);
            }
        }
    }

    /// Legacy components: rows of five buttons or one select, no custom id twice.
    fn rows(&mut self, path: &str, rows: &[Value]) {
        if rows.len() > ROWS {
            self.error(
                path,
                "BASE_TYPE_MAX_LENGTH",
                format!("Must be {ROWS} or fewer in length."),
            );
        }
        let mut custom_ids = Vec::new();
        let mut ids = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let at = join(path, i);
            if row.get("type").and_then(integer) != Some(1) {
                self.error(
                    &join(&at, "type"),
                    "UNION_TYPE_CHOICES",
                    "Value of field \"type\" must be one of (1,).",
                );
                continue;
            }
            self.row(&at, row, &mut custom_ids, &mut ids);
        }
    }

    fn row(&mut self, at: &str, row: &Value, custom_ids: &mut Vec<String>, ids: &mut Vec<u64>) {
        self.keys(at, row, &["type", "id", "components"]);
        self.component_id(at, row, ids);
        let at = join(at, "components");
        let children = self.list(&at, row.get("components"));
        self.count(&at, children.len(), 1, BUTTONS);
        let selects = children
            .iter()
            .filter(|c| c.get("type").and_then(integer) != Some(2))
            .count();
        if selects > 0 && children.len() > 1 {
            self.error(
                &at,
                "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
                "The specified component exceeds the maximum width",
            );
        }
        for (j, child) in children.iter().enumerate() {
            let at = join(&at, j);
            self.component_id(&at, child, ids);
            if let Some(custom_id) = child.get("custom_id").and_then(Value::as_str) {
                if custom_ids.iter().any(|c| c == custom_id) {
                    self.error(
                        &join(&at, "custom_id"),
                        "COMPONENT_CUSTOM_ID_DUPLICATED",
                        "Component custom id cannot be duplicated",
                    );
                }
                custom_ids.push(custom_id.to_owned());
            }
            match child.get("type").and_then(integer) {
                Some(2) => self.button(&at, child),
                Some(kind @ (3 | 5..=8)) => self.select(&at, child, kind),
                _ => self.error(
                    &join(&at, "type"),
                    "UNION_TYPE_CHOICES",
                    "Value of field \"type\" must be one of (2, 3, 5, 6, 7, 8).",
                ),
            }
        }
    }

    fn component_id(&mut self, at: &str, component: &Value, ids: &mut Vec<u64>) {
        if let Some(id) = component.get("id").and_then(integer).filter(|id| *id != 0) {
            if ids.contains(&id) {
                self.error(
                    &join(at, "id"),
                    "COMPONENT_ID_DUPLICATED",
                    "Component id cannot be duplicated",
                );
            }
            ids.push(id);
        }
    }

    /// An emoji that the application may use: a character, as it has no own ones.
    fn emoji(&mut self, at: &str, owner: &Value) {
        let Some(emoji) = owner.get("emoji").filter(|e| !e.is_null()) else {
            return;
        };
        let at = join(at, "emoji");
        if self.keys(&at, emoji, &["id", "name", "animated"]) {
            let name = emoji.get("name").and_then(Value::as_str).unwrap_or("");
            if emoji.get("id").is_some_and(|i| !i.is_null()) || !is_emoji(name) {
                self.error(
                    &join(&at, "name"),
                    "COMPONENT_INVALID_EMOJI",
                    "Invalid emoji",
                );
            }
        }
    }

    fn button(&mut self, at: &str, button: &Value) {
        self.keys(
            at,
            button,
            &[
                "type",
                "id",
                "style",
                "label",
                "emoji",
                "custom_id",
                "sku_id",
                "url",
                "disabled",
            ],
        );
        self.emoji(at, button);
        let present = |key: &str| button.get(key).is_some_and(|v| !v.is_null());
        self.optional_text(at, button, "label", 80);
        match button.get("style").and_then(integer) {
            Some(1..=4) => {
                self.text(at, button, "custom_id", 1, 100);
                for key in ["url", "sku_id"] {
                    if present(key) {
                        self.error(
                            &join(at, key),
                            "BUTTON_COMPONENT_INVALID_FIELD",
                            "A custom id and a url or sku id cannot both be specified",
                        );
                    }
                }
                if !present("label") && !present("emoji") {
                    self.error(
                        at,
                        "BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL",
                        "A label or emoji is required",
                    );
                }
            }
            Some(5) => {
                self.text(at, button, "url", 1, 512);
                self.url(at, button, "url", 512);
                if present("custom_id") {
                    self.error(
                        &join(at, "custom_id"),
                        "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
                        "A custom id and url cannot both be specified",
                    );
                }
            }
            Some(6) => self.text(at, button, "sku_id", 1, 20),
            _ => self.error(
                &join(at, "style"),
                "BASE_TYPE_CHOICES",
                "Value must be one of {1, 2, 3, 4, 5, 6}.",
            ),
        }
    }

    fn select(&mut self, at: &str, select: &Value, kind: u64) {
        self.keys(
            at,
            select,
            &[
                "type",
                "id",
                "custom_id",
                "options",
                "channel_types",
                "placeholder",
                "default_values",
                "min_values",
                "max_values",
                "disabled",
                "required",
            ],
        );
        self.text(at, select, "custom_id", 1, 100);
        self.optional_text(at, select, "placeholder", 150);
        let bound = |key: &str, default: u64| {
            select
                .get(key)
                .filter(|v| !v.is_null())
                .map_or(Some(default), integer)
        };
        let (least, most) = (bound("min_values", 1), bound("max_values", 1));
        match (least, most) {
            (Some(least), Some(most)) => {
                if least > 25 {
                    self.error(
                        &join(at, "min_values"),
                        "NUMBER_TYPE_MAX",
                        "int value should be less than or equal to 25.",
                    );
                }
                if !(1..=25).contains(&most) {
                    self.error(
                        &join(at, "max_values"),
                        "NUMBER_TYPE_MAX",
                        "int value should be between 1 and 25.",
                    );
                }
                if least > most {
                    self.error(
                        &join(at, "min_values"),
                        "SELECT_COMPONENT_MIN_VALUES_GREATER_THAN_MAX_VALUES",
                        "The min values cannot be greater than the max values.",
                    );
                }
            }
            _ => self.error(at, "NUMBER_TYPE_COERCE", "Value is not int."),
        }
        if kind != 3 {
            return;
        }
        let options = join(at, "options");
        let list = self.list(&options, select.get("options"));
        self.count(&options, list.len(), 1, SELECT_OPTIONS);
        if most.is_some_and(|most| usize::try_from(most).unwrap_or(usize::MAX) > list.len()) {
            self.error(
                &join(at, "max_values"),
                "SELECT_COMPONENT_MAX_VALUES_GREATER_THAN_OPTIONS",
                "The max values cannot be greater than the number of options.",
            );
        }
        let mut values = Vec::new();
        let mut defaults = 0;
        for (i, option) in list.iter().enumerate() {
            let at = join(&options, i);
            if !self.keys(
                &at,
                option,
                &["label", "value", "description", "emoji", "default"],
            ) {
                continue;
            }
            self.emoji(&at, option);
            self.text(&at, option, "label", 1, 100);
            self.text(&at, option, "value", 1, 100);
            self.optional_text(&at, option, "description", 100);
            if option.get("default").and_then(Value::as_bool) == Some(true) {
                defaults += 1;
            }
            if let Some(value) = option.get("value").and_then(Value::as_str) {
                if values.contains(&value) {
                    self.error(
                        &join(&at, "value"),
                        "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
                        "The specified option value is already used",
                    );
                }
                values.push(value);
            }
        }
        if most.is_some_and(|most| defaults > most) {
            self.error(
                &options,
                "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES",
                "The number of default options exceeds the max values.",
            );
        }
    }

    /// Layout components: counted and checked for ids only; their shapes are left to
    /// Discord's machine-readable description.
    fn layout(&mut self, path: &str, components: &[Value]) {
        let mut waiting: Vec<&Value> = components.iter().collect();
        let mut custom_ids: Vec<&str> = Vec::new();
        let mut total = 0;
        let mut text = 0;
        while let Some(component) = waiting.pop() {
            total += 1;
            waiting.extend(items(component.get("components")));
            waiting.extend(component.get("accessory"));
            if component.get("type").and_then(integer) == Some(10) {
                text += component
                    .get("content")
                    .and_then(Value::as_str)
                    .map_or(0, characters);
            }
            if let Some(id) = component.get("custom_id").and_then(Value::as_str) {
                if custom_ids.contains(&id) {
                    self.error(
                        path,
                        "COMPONENT_CUSTOM_ID_DUPLICATED",
                        "Component custom id cannot be duplicated",
                    );
                }
                custom_ids.push(id);
            }
        }
        if total > 40 {
            self.error(
                path,
                "BASE_TYPE_MAX_LENGTH",
                "Must be 40 or fewer in length.",
            );
        }
        if text > 4000 {
            self.error(
                path,
                "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
                "The displayable text exceeds the maximum size of 4000",
            );
        }
    }

    fn allowed_mentions(&mut self, path: &str, body: &Value) {
        let Some(allowed) = body.get("allowed_mentions").filter(|v| !v.is_null()) else {
            return;
        };
        let at = join(path, "allowed_mentions");
        if !self.keys(&at, allowed, &["parse", "roles", "users", "replied_user"]) {
            return;
        }
        let parse = self.list(&join(&at, "parse"), allowed.get("parse"));
        for (i, word) in parse.iter().enumerate() {
            if !matches!(word.as_str(), Some("users" | "roles" | "everyone")) {
                self.error(
                    &join(&join(&at, "parse"), i),
                    "BASE_TYPE_CHOICES",
                    "Value must be one of ('users', 'everyone', 'roles').",
                );
            }
        }
        for key in ["users", "roles"] {
            let list = self.list(&join(&at, key), allowed.get(key));
            if list.len() > 100 {
                self.error(
                    &join(&at, key),
                    "BASE_TYPE_MAX_LENGTH",
                    "Must be 100 or fewer in length.",
                );
            }
            if !list.is_empty() && parse.iter().any(|p| p.as_str() == Some(key)) {
                self.error(
                    &at,
                    "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                    format!("parse:[\"{key}\"] and {key}: [ids...] are mutually exclusive."),
                );
            }
        }
    }

    fn attachments(&mut self, path: &str, body: &Value, files: usize) {
        let at = join(path, "attachments");
        let list = self.list(&at, body.get("attachments"));
        if list.len() > FILES || files > FILES {
            self.error(
                &at,
                "BASE_TYPE_MAX_LENGTH",
                "Must be 10 or fewer in length.",
            );
        }
        for (i, attachment) in list.iter().enumerate() {
            let at = join(&at, i);
            // A kept attachment may be sent back as it was received.
            if !self.keys(
                &at,
                attachment,
                &[
                    "id",
                    "filename",
                    "title",
                    "description",
                    "duration_secs",
                    "waveform",
                    "is_spoiler",
                    "is_remix",
                    "content_type",
                    "size",
                    "url",
                    "proxy_url",
                    "height",
                    "width",
                    "ephemeral",
                    "flags",
                ],
            ) {
                continue;
            }
            if attachment.get("id").and_then(integer).is_none() {
                self.required(&join(&at, "id"));
            }
            self.optional_text(&at, attachment, "filename", 1024);
            self.optional_text(&at, attachment, "description", 1024);
        }
    }

    /// `data` of callback 9: a classic modal.
    pub fn modal(&mut self, path: &str, data: &Value) {
        if !self.keys(path, data, &["custom_id", "title", "components"]) {
            return;
        }
        self.text(path, data, "custom_id", 1, 100);
        self.text(path, data, "title", 1, 45);
        let at = join(path, "components");
        let rows = self.list(&at, data.get("components"));
        self.count(&at, rows.len(), 1, ROWS);
        let mut custom_ids: Vec<&str> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let at = join(&at, i);
            match row.get("type").and_then(integer) {
                Some(1) => {}
                Some(18) => {
                    self.error(
                        &join(&at, "type"),
                        "LABEL_MODAL",
                        "a Label modal: serenity 0.12.5 loses what people type into it",
                    );
                    continue;
                }
                _ => {
                    self.error(
                        &join(&at, "type"),
                        "UNION_TYPE_CHOICES",
                        "Value of field \"type\" must be one of (1, 10, 18).",
                    );
                    continue;
                }
            }
            self.keys(&at, row, &["type", "id", "components"]);
            let at = join(&at, "components");
            let inputs = self.list(&at, row.get("components"));
            self.count(&at, inputs.len(), 1, 1);
            for (j, input) in inputs.iter().enumerate() {
                let at = join(&at, j);
                self.text_input(&at, input);
                if let Some(id) = input.get("custom_id").and_then(Value::as_str) {
                    if custom_ids.contains(&id) {
                        self.error(
                            &join(&at, "custom_id"),
                            "COMPONENT_CUSTOM_ID_DUPLICATED",
                            "Component custom id cannot be duplicated",
                        );
                    }
                    custom_ids.push(id);
                }
            }
        }
    }

    fn text_input(&mut self, at: &str, input: &Value) {
        if input.get("type").and_then(integer) != Some(4) {
            self.error(
                &join(at, "type"),
                "UNION_TYPE_CHOICES",
                "Value of field \"type\" must be one of (4,).",
            );
            return;
        }
        self.keys(
            at,
            input,
            &[
                "type",
                "id",
                "custom_id",
                "style",
                "label",
                "min_length",
                "max_length",
                "required",
                "value",
                "placeholder",
            ],
        );
        self.text(at, input, "custom_id", 1, 100);
        self.text(at, input, "label", 1, 45);
        self.optional_text(at, input, "placeholder", 100);
        self.optional_text(at, input, "value", 4000);
        if !matches!(input.get("style").and_then(integer), Some(1 | 2)) {
            self.error(
                &join(at, "style"),
                "BASE_TYPE_CHOICES",
                "Value must be one of {1, 2}.",
            );
        }
        let number = |key: &str| input.get(key).filter(|v| !v.is_null()).map(integer);
        let least = number("min_length").unwrap_or(Some(0));
        let most = number("max_length").unwrap_or(Some(4000));
        match (least, most) {
            (Some(least), Some(most)) => {
                if least > 4000 || !(1..=4000).contains(&most) || least > most {
                    self.error(
                        &join(at, "max_length"),
                        "NUMBER_TYPE_MAX",
                        "min_length is 0 to 4000, max_length 1 to 4000 and not below it.",
                    );
                }
                let value = input.get("value").and_then(Value::as_str).unwrap_or("");
                if characters(value) > usize::try_from(most).unwrap_or(usize::MAX) {
                    self.error(
                        &join(at, "value"),
                        "BASE_TYPE_MAX_LENGTH",
                        format!("Must be {most} or fewer in length."),
                    );
                }
            }
            _ => self.error(at, "NUMBER_TYPE_COERCE", "Value is not int."),
        }
    }

    /// `data` of callback 8.
    pub fn choices(&mut self, path: &str, data: &Value) {
        if !self.keys(path, data, &["choices"]) {
            return;
        }
        let at = join(path, "choices");
        if !data.get("choices").is_some_and(Value::is_array) {
            self.required(&at);
        }
        let list = self.list(&at, data.get("choices"));
        if list.len() > 25 {
            self.error(
                &at,
                "BASE_TYPE_MAX_LENGTH",
                "Must be 25 or fewer in length.",
            );
        }
        for (i, choice) in list.iter().enumerate() {
            self.choice(&join(&at, i), choice);
        }
    }

    fn choice(&mut self, at: &str, choice: &Value) {
        if !self.keys(at, choice, &["name", "name_localizations", "value"]) {
            return;
        }
        self.text(at, choice, "name", 1, 100);
        match choice.get("value") {
            None | Some(Value::Null) => self.required(&join(at, "value")),
            Some(Value::String(_)) => self.text(at, choice, "value", 0, 100),
            Some(_) => {}
        }
    }

    /// `name`, `auto_archive_duration`, `rate_limit_per_user` of a thread to be made.
    pub fn new_thread(&mut self, body: &Value, from_message: bool) {
        let known: &[&str] = if from_message {
            &["name", "auto_archive_duration", "rate_limit_per_user"]
        } else {
            &[
                "name",
                "auto_archive_duration",
                "rate_limit_per_user",
                "type",
                "invitable",
            ]
        };
        if !self.keys("", body, known) {
            return;
        }
        self.text("", body, "name", 1, 100);
        self.thread_numbers(body);
    }

    fn thread_numbers(&mut self, body: &Value) {
        if let Some(minutes) = body.get("auto_archive_duration").filter(|v| !v.is_null())
            && !matches!(integer(minutes), Some(60 | 1440 | 4320 | 10080))
        {
            self.error(
                "auto_archive_duration",
                "BASE_TYPE_CHOICES",
                "Value must be one of (60, 1440, 4320, 10080).",
            );
        }
        if let Some(seconds) = body.get("rate_limit_per_user").filter(|v| !v.is_null())
            && integer(seconds).is_none_or(|s| s > 21600)
        {
            self.error(
                "rate_limit_per_user",
                "NUMBER_TYPE_MAX",
                "int value should be less than or equal to 21600.",
            );
        }
    }

    /// `PATCH /channels/{id}` on a thread.
    pub fn thread_change(&mut self, body: &Value) {
        if !self.keys(
            "",
            body,
            &[
                "name",
                "archived",
                "auto_archive_duration",
                "locked",
                "invitable",
                "rate_limit_per_user",
                "flags",
                "applied_tags",
            ],
        ) {
            return;
        }
        if body.get("name").is_some() {
            self.text("", body, "name", 1, 100);
        }
        self.thread_numbers(body);
    }

    /// The body of a bulk overwrite.
    pub fn commands(&mut self, body: &Value) {
        let Some(list) = body.as_array() else {
            self.error(
                "",
                "LIST_TYPE_CONVERT",
                "Only iterables may be used in a ListType",
            );
            return;
        };
        let kind = |c: &Value| c.get("type").and_then(integer).unwrap_or(1);
        for (wanted, most) in [(1, 100), (2, 15), (3, 15)] {
            if list.iter().filter(|c| kind(c) == wanted).count() > most {
                self.error(
                    "",
                    "APPLICATION_COMMANDS_MAX",
                    format!("Maximum number of application commands reached ({most})."),
                );
            }
        }
        let mut names: Vec<(u64, &str)> = Vec::new();
        for (i, command) in list.iter().enumerate() {
            let at = i.to_string();
            self.command(&at, command, kind(command));
            if let Some(name) = command.get("name").and_then(Value::as_str) {
                let name = (kind(command), name);
                if names.contains(&name) {
                    self.error(
                        &join(&at, "name"),
                        "APPLICATION_COMMANDS_DUPLICATE_NAME",
                        "Application command names must be unique",
                    );
                }
                names.push(name);
            }
        }
    }

    fn command(&mut self, at: &str, command: &Value, kind: u64) {
        if !self.keys(
            at,
            command,
            &[
                "id",
                "type",
                "name",
                "name_localizations",
                "description",
                "description_localizations",
                "options",
                "default_member_permissions",
                "dm_permission",
                "default_permission",
                "integration_types",
                "contexts",
                "nsfw",
                "handler",
            ],
        ) {
            return;
        }
        match kind {
            1 => {
                self.command_name(at, command);
                self.text(at, command, "description", 1, 100);
                self.localizations(at, command, "description_localizations", 100, false);
                self.options(&join(at, "options"), command.get("options"), 0);
            }
            2 | 3 => {
                self.text(at, command, "name", 1, 32);
                self.localizations(at, command, "name_localizations", 32, false);
                let described = command
                    .get("description")
                    .and_then(Value::as_str)
                    .is_some_and(|d| !d.is_empty());
                if described || !items(command.get("options")).is_empty() {
                    self.error(
                        &join(at, "description"),
                        "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION",
                        "Context menu commands cannot have description or options",
                    );
                }
            }
            _ => self.error(
                &join(at, "type"),
                "BASE_TYPE_CHOICES",
                "Value must be one of {1, 2, 3, 4}.",
            ),
        }
        if let Some(bits) = command
            .get("default_member_permissions")
            .filter(|v| !v.is_null())
            && integer(bits).is_none()
        {
            self.error(
                &join(at, "default_member_permissions"),
                "NUMBER_TYPE_COERCE",
                "Value is not int.",
            );
        }
        if command_characters(command) > COMMAND_TOTAL {
            self.error(
                at,
                "APPLICATION_COMMAND_TOO_LARGE",
                format!("Command exceeds maximum size ({COMMAND_TOTAL})"),
            );
        }
    }

    fn command_name(&mut self, at: &str, owner: &Value) {
        self.text(at, owner, "name", 1, 32);
        if let Some(name) = owner.get("name").and_then(Value::as_str)
            && !is_command_name(name)
        {
            self.error(
                &join(at, "name"),
                "APPLICATION_COMMAND_INVALID_NAME",
                "Command name is invalid",
            );
        }
        self.localizations(at, owner, "name_localizations", 32, true);
    }

    fn localizations(&mut self, at: &str, owner: &Value, key: &str, most: usize, names: bool) {
        let at = join(at, key);
        let Some(map) = owner.get(key).and_then(Value::as_object) else {
            return;
        };
        for (locale, text) in map {
            let at = join(&at, locale);
            if !LOCALES.contains(&locale.as_str()) {
                self.error(&at, "ENUM_TYPE_COERCE", "Value is not a valid locale.");
            }
            let Some(text) = text.as_str() else {
                self.error(
                    &at,
                    "STRING_TYPE_CONVERT",
                    "Could not interpret value as string.",
                );
                continue;
            };
            self.count(&at, characters(text), 1, most);
            if names && !is_command_name(text) {
                self.error(
                    &at,
                    "APPLICATION_COMMAND_INVALID_NAME",
                    "Command name is invalid",
                );
            }
        }
    }

    /// `depth` 0: of a command, 1: of a group or subcommand, 2: of a grouped one.
    fn options(&mut self, path: &str, options: Option<&Value>, depth: u8) {
        let list = self.list(path, options);
        if list.len() > 25 {
            self.error(
                path,
                "BASE_TYPE_MAX_LENGTH",
                "Must be 25 or fewer in length.",
            );
        }
        let mut names: Vec<&str> = Vec::new();
        let mut optional_seen = false;
        for (i, option) in list.iter().enumerate() {
            let at = join(path, i);
            if !self.keys(
                &at,
                option,
                &[
                    "type",
                    "name",
                    "name_localizations",
                    "description",
                    "description_localizations",
                    "required",
                    "choices",
                    "options",
                    "channel_types",
                    "min_value",
                    "max_value",
                    "min_length",
                    "max_length",
                    "autocomplete",
                ],
            ) {
                continue;
            }
            self.command_name(&at, option);
            self.text(&at, option, "description", 1, 100);
            self.localizations(&at, option, "description_localizations", 100, false);
            if let Some(name) = option.get("name").and_then(Value::as_str) {
                if names.contains(&name) {
                    self.error(
                        &join(&at, "name"),
                        "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
                        "Option name already exists",
                    );
                }
                names.push(name);
            }
            let kind = option.get("type").and_then(integer).unwrap_or(0);
            match kind {
                1 | 2 => {
                    if (kind == 2 && depth > 0) || depth > 1 {
                        self.error(
                            &join(&at, "type"),
                            "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                            "Sub-command and sub-command group option types are not nested this way",
                        );
                    } else {
                        self.options(&join(&at, "options"), option.get("options"), depth + 1);
                    }
                    if list
                        .iter()
                        .any(|o| !matches!(o.get("type").and_then(integer), Some(1 | 2)))
                    {
                        self.error(
                            &join(&at, "type"),
                            "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                            "Sub-command and sub-command group option types are mutually exclusive to all other types",
                        );
                    }
                }
                3..=11 => self.plain_option(&at, option, kind, &mut optional_seen),
                _ => self.error(
                    &join(&at, "type"),
                    "BASE_TYPE_CHOICES",
                    "Value must be one of {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}.",
                ),
            }
        }
    }

    fn plain_option(&mut self, at: &str, option: &Value, kind: u64, optional_seen: &mut bool) {
        let required = option.get("required").and_then(Value::as_bool) == Some(true);
        if required && *optional_seen {
            self.error(
                at,
                "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
                "Required options must be placed before non-required options",
            );
        }
        *optional_seen |= !required;
        if !items(option.get("options")).is_empty() {
            self.error(
                &join(at, "options"),
                "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                "Only sub-commands and groups have options",
            );
        }
        let choices_at = join(at, "choices");
        let choices = self.list(&choices_at, option.get("choices"));
        if choices.len() > 25 {
            self.error(
                &choices_at,
                "BASE_TYPE_MAX_LENGTH",
                "Must be 25 or fewer in length.",
            );
        }
        let mut names: Vec<&str> = Vec::new();
        for (j, choice) in choices.iter().enumerate() {
            let at = join(&choices_at, j);
            self.choice(&at, choice);
            self.localizations(&at, choice, "name_localizations", 100, false);
            if let Some(name) = choice.get("name").and_then(Value::as_str) {
                if names.contains(&name) {
                    self.error(
                        &join(&at, "name"),
                        "APPLICATION_COMMAND_OPTIONS_CHOICE_NAME_ALREADY_EXISTS",
                        "Option choice name already exists",
                    );
                }
                names.push(name);
            }
        }
        if option.get("autocomplete").and_then(Value::as_bool) == Some(true) {
            if !choices.is_empty() {
                self.error(
                    at,
                    "APPLICATION_COMMAND_AUTOCOMPLETE_WITH_CHOICES",
                    "autocomplete and choices are mutually exclusive",
                );
            }
            if !matches!(kind, 3 | 4 | 10) {
                self.error(
                    &join(at, "autocomplete"),
                    "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                    "autocomplete is for string, integer and number options",
                );
            }
        }
    }
}

/// Every emoji has a character outside Latin letters and their punctuation; keycaps
/// carry a combining mark. A name such as `eyes` is none.
pub(crate) fn is_emoji(name: &str) -> bool {
    name.chars().any(|c| u32::from(c) > 0xA8) && name.chars().count() <= 16
}

/// Discord's locales (documentation, reference).
const LOCALES: &[&str] = &[
    "id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl",
    "no", "pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th",
    "zh-CN", "ja", "zh-TW", "ko",
];

/// `^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$`, lowercase where there is a lowercase.
fn is_command_name(name: &str) -> bool {
    (1..=32).contains(&characters(name))
        && name
            .chars()
            .all(|c| matches!(c, '-' | '_' | '\'') || c.is_alphanumeric())
        && !name.chars().any(|c| {
            let lower: String = c.to_lowercase().collect();
            lower != c.to_string()
        })
}

/// Characters of a command that count toward the 8,000, with the longest localization
/// in place of a shorter default.
fn command_characters(owner: &Value) -> usize {
    let longest = |key: &str, localizations: &str| {
        let plain = owner.get(key).and_then(Value::as_str).map_or(0, characters);
        let localized = owner
            .get(localizations)
            .and_then(Value::as_object)
            .and_then(|map| map.values().filter_map(Value::as_str).map(characters).max())
            .unwrap_or(0);
        plain.max(localized)
    };
    let own =
        longest("name", "name_localizations") + longest("description", "description_localizations");
    let choices: usize = items(owner.get("choices"))
        .iter()
        .map(|c| {
            let value = c.get("value").and_then(Value::as_str).map_or(0, characters);
            c.get("name").and_then(Value::as_str).map_or(0, characters) + value
        })
        .sum();
    let options: usize = items(owner.get("options"))
        .iter()
        .map(command_characters)
        .sum();
    own + choices + options
}

/// Characters of one embed that count toward the total of a message.
pub(crate) fn embed_characters(embed: &Value) -> usize {
    let text = |value: Option<&Value>| {
        value
            .and_then(Value::as_str)
            .map_or(0, |t| characters(t.trim()))
    };
    let fields: usize = items(embed.get("fields"))
        .iter()
        .map(|f| text(f.get("name")) + text(f.get("value")))
        .sum();
    text(embed.get("title"))
        + text(embed.get("description"))
        + text(embed.pointer("/footer/text"))
        + text(embed.pointer("/author/name"))
        + fields
}

/// Null, an empty list, or white space: nothing to show.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(s) => s.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Whether an embed shows anything.
pub(crate) fn embed_is_empty(embed: &Value) -> bool {
    [
        "title",
        "description",
        "fields",
        "footer",
        "author",
        "image",
        "thumbnail",
    ]
    .iter()
    .all(|key| embed.get(*key).is_none_or(is_blank))
}
