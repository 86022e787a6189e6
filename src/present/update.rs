//! The stakeholder update: composed from checked fields, plain text, pasteable as it is (R19).
//!
//! It stands alone in one code block in `content`, because embed text can't be copied on phones.
//! What is unknown says so; nothing here promises a time: the next update is due by severity or by
//! a person's word. The status page is checked once more on its way out: a field that names the
//! incident, its severity, the service or a percentage is dropped, whatever was let through before.

use super::custom_id::Action;
use super::escape::{cut, plain, width};
use super::payload::{Button, Message, Row, Style};
use super::running::{SaidBefore, Stand};
use super::{Post, Slot, View, say};
use crate::incident::words::fold;
use crate::incident::{Impact, Status};
use crate::validation::Analysis;
use crate::validation::analysis::{Audience, UpdateFields};
use crate::validation::risk::is_destructive_text;
use jiff::{SignedDuration, Timestamp};

/// Whether the update has a message of its own: unasked for SEV1 and SEV2, else once asked for.
pub fn is_shown(view: &View) -> bool {
    view.update_shown || view.severity.is_grave()
}

/// The update's message; `None` while it is behind its button.
pub fn update_post(analysis: &Analysis, view: &View) -> Option<Post> {
    if !is_shown(view) {
        return None;
    }
    let text = update_text(analysis, view.audience, view);
    let message = Message {
        content: format!("```\n{text}\n```"),
        rows: rows(view),
        ..Message::default()
    };
    Some(message.post(Slot::Update))
}

/// The buttons alone of an update that a later analysis replaced, switched off. Its text is left as
/// it was: whoever is copying it finds the same words, for the same audience.
pub fn frozen_update(view: &View) -> Post {
    let message = Message {
        rows: rows(view),
        ..Message::default()
    };
    let mut post = message.post(Slot::Update);
    if let Some(fields) = post.payload.as_object_mut() {
        fields.retain(|key, _| matches!(key.as_str(), "components" | "allowed_mentions"));
    }
    post
}

fn rows(view: &View) -> Vec<Row> {
    let Some(incident) = view.incident else {
        return Vec::new();
    };
    let (locale, analysis) = (view.locale, view.analysis);
    let off = view.superseded_by.is_some();
    let mut buttons: Vec<Button> = Audience::ALL
        .into_iter()
        .map(|audience| {
            let action = Action::UpdateAudience {
                incident,
                analysis,
                audience,
            };
            let shown = audience == view.audience && !off;
            let style = if shown {
                Style::Primary
            } else {
                Style::Secondary
            };
            Button::new(action, say::audience(locale, audience))
                .style(style)
                .off(off || shown)
        })
        .collect();
    let refresh = Action::RefreshUpdate {
        incident,
        analysis,
        audience: view.audience,
    };
    buttons.push(Button::new(refresh, say::button_refresh(locale)).off(off));
    // What stands in the thread is said with that; the others go out elsewhere.
    if view.audience == Audience::Internal {
        let remind = Action::RemindMe { incident };
        buttons.push(Button::new(remind, say::button_remind(locale)).off(off));
    } else if let Some(draft) = view.draft {
        let sent = Action::UpdateSent { incident, draft };
        buttons.push(Button::new(sent, say::button_sent(locale)).off(off));
    }
    vec![Row::Buttons(buttons)]
}

/// Characters of a field, from calm to cramped.
const ROOMS: [usize; 8] = [400, 260, 180, 120, 90, 60, 40, 20];

/// The text for an audience, within its limit (900, 500, 700), in the view's language.
pub fn update_text(analysis: &Analysis, audience: Audience, view: &View) -> String {
    let mut text = String::new();
    for room in ROOMS {
        text = compose(analysis, audience, view, room);
        if width(&text) <= audience.limit() {
            return text;
        }
    }
    cut(&text, audience.limit())
}

fn compose(analysis: &Analysis, audience: Audience, view: &View, room: usize) -> String {
    let locale = view.locale;
    let exposed = view.exposed || analysis.update.nothing_public;
    if exposed && audience == Audience::StatusPage {
        return say::nothing_public(locale).to_owned();
    }
    // What was none claims no recovery, and what goes on elsewhere is told there.
    if audience == Audience::StatusPage && view.status == Status::FalseAlarm {
        return say::no_problem_outside(locale).to_owned();
    }
    if view.status == Status::Merged {
        return say::update_elsewhere(locale).to_owned();
    }
    let told = Told {
        analysis,
        audience,
        view,
        room,
    };
    match audience {
        Audience::Internal => told.internal(),
        Audience::StatusPage => told.status_page(),
        Audience::Executive => told.executive(),
    }
}

/// What an update rests on now: kept when it goes out, and compared by the next one.
pub fn stand(analysis: &Analysis, audience: Audience, view: &View) -> Stand {
    let told = Told {
        analysis,
        audience,
        view,
        room: usize::MAX / 8,
    };
    Stand {
        status: view.status,
        severity: Some(view.severity),
        impact: told.impact(),
        known: told.field(&analysis.update.fields(audience).known),
        cause_confirmed: view.confirmed_cause.is_some(),
        lead: view.lead.clone(),
        fixes: view
            .running
            .tried
            .iter()
            .map(|attempt| (attempt.fix.clone(), attempt.outcome))
            .collect(),
    }
}

/// One update in the making.
struct Told<'a> {
    analysis: &'a Analysis,
    audience: Audience,
    view: &'a View,
    room: usize,
}

impl Told<'_> {
    fn internal(&self) -> String {
        let (locale, view) = (self.view.locale, self.view);
        let fields = self.fields();
        let mut lines: Vec<String> = first_line(self.audience, view, self.room)
            .into_iter()
            .collect();
        let mut stamp = vec![self.status().to_owned()];
        let (number, before) = self.before();
        if number > 1 {
            stamp.push(say::update_number(locale, number));
        }
        stamp.push(say::day_and_clock(locale, view.now));
        lines.push(stamp.join(" · "));
        lines.push(self.line(say::impact_label(locale), &self.or_unknown(self.impact())));
        let workaround = self.people(|impact| &impact.workaround);
        if !workaround.is_empty() {
            let label = say::workaround_label(locale);
            lines.push(self.line(label, &workaround));
        }
        lines.push(self.line(say::since_label(locale), &self.or_unknown(self.since())));
        lines.push(self.line(
            say::known_label(locale),
            &self.or_unknown(self.field(&fields.known)),
        ));
        if let Some(cause) = &view.confirmed_cause {
            let state = say::cause_state(locale, true).to_owned();
            let cause = value(cause, self.audience, view, self.room);
            let said = if !cause.is_empty() {
                say::pair(locale, &state, &cause)
            } else {
                state
            };
            lines.push(self.line(say::cause_label(locale), &said));
        } else if !self.over() {
            lines.push(self.line(
                say::not_confirmed_label(locale),
                &self.or_unknown(self.field(&fields.not_confirmed)),
            ));
        }
        if !self.over() {
            lines.push(self.line(say::doing_label(locale), &self.doing()));
        }
        lines.extend(self.data_line());
        lines.extend(self.changed_line(before));
        lines.extend(self.maybe(say::needed_label(locale), &fields.needed));
        let name = |name: Option<&str>| {
            let name = name
                .map(|name| cut(&word(name), self.room.min(60)))
                .unwrap_or_default();
            if name.is_empty() {
                say::nobody_yet(locale).to_owned()
            } else {
                name
            }
        };
        lines.push(self.line(say::lead_label(locale), &name(view.lead.as_deref())));
        if view.running.comms.is_some() {
            let comms = name(view.running.comms.as_deref());
            lines.push(self.line(say::comms_label(locale), &comms));
        }
        if let Some(next) = next_update(self.analysis, view) {
            let or_on_change = say::or_on_change(locale, &say::day_and_clock(locale, next));
            lines.push(self.line(say::next_update_label(locale), &or_on_change));
        }
        lines.join("\n")
    }

    /// Prose, as customers read it.
    fn status_page(&self) -> String {
        let (locale, view) = (self.view.locale, self.view);
        let impact = self.impact();
        let impact = if impact.is_empty() {
            say::impact_unknown_outside(locale).to_owned()
        } else {
            say::full_stop(locale, &impact)
        };
        let mut lines = vec![say::pair(locale, self.status(), &impact)];
        let who = self.people(|impact| &impact.who);
        if !who.is_empty() {
            lines.push(say::affected_outside(locale, &who));
        }
        let since = self.since();
        lines.push(if since.is_empty() {
            say::since_unknown_outside(locale).to_owned()
        } else {
            say::since_outside(locale, &since)
        });
        let workaround = self.people(|impact| &impact.workaround);
        if !workaround.is_empty() && !self.over() {
            lines.push(say::full_stop(locale, &workaround));
        }
        let next = next_update(self.analysis, view).map(|next| say::day_and_clock(locale, next));
        lines.push(match view.status {
            Status::Mitigated => say::watching_outside(locale, next.as_deref()),
            _ if self.over() => {
                let end = view.running.times.resolved.or(view.running.times.mitigated);
                let end = end.map(|end| say::day_and_clock(locale, end));
                say::recovered_outside(locale, end.as_deref())
            }
            _ => say::working_outside(locale, next.as_deref()),
        });
        if self.over() {
            let data = self.people(|impact| &impact.data);
            lines.push(if data.is_empty() {
                say::data_unknown_outside(locale).to_owned()
            } else {
                say::full_stop(locale, &data)
            });
        }
        lines.join("\n")
    }

    fn executive(&self) -> String {
        let (locale, view) = (self.view.locale, self.view);
        let fields = self.fields();
        let mut lines: Vec<String> = first_line(self.audience, view, self.room)
            .into_iter()
            .collect();
        let mut stamp = vec![self.status().to_owned()];
        stamp.extend(super::running::open_for(view).filter(|_| view.status.is_open()));
        stamp.push(say::day_and_clock(locale, view.now));
        lines.push(stamp.join(" · "));
        lines.push(self.line(
            say::customers_label(locale),
            &self.or_unknown(self.impact()),
        ));
        lines.push(self.line(say::since_label(locale), &self.or_unknown(self.since())));
        lines.extend(self.maybe(say::known_label(locale), &fields.known));
        if view.confirmed_cause.is_none() && !self.over() {
            lines.extend(self.maybe(say::not_confirmed_label(locale), &fields.not_confirmed));
        }
        let data = self.people(|impact| &impact.data);
        let data = if !data.is_empty() {
            data
        } else if self.view.exposed || self.analysis.update.nothing_public {
            say::data_in_question(locale).to_owned()
        } else {
            say::data_not_ruled_out(locale).to_owned()
        };
        lines.push(self.line(say::data_label(locale), &data));
        lines.push(self.line(
            say::cause_label(locale),
            say::cause_state(locale, view.confirmed_cause.is_some()),
        ));
        if !self.over() {
            lines.push(self.line(say::plan_label(locale), &self.doing()));
            lines.push(self.line(say::restoration_label(locale), say::not_known(locale)));
        }
        lines.extend(self.changed_line(self.before().1));
        let needed = self.field(&fields.needed);
        let needed = if needed.is_empty() {
            say::nothing_now(locale).to_owned()
        } else {
            needed
        };
        lines.push(self.line(say::needed_from_you_label(locale), &needed));
        let public = view.running.last_said(Audience::StatusPage);
        let public = public.map(|(_, said)| say::clock(locale, said.at));
        lines.push(self.line(
            say::public_notice_label(locale),
            &say::public_notice(locale, public.as_deref()),
        ));
        if let Some(next) = next_update(self.analysis, view) {
            lines.push(self.line(
                say::next_update_label(locale),
                &say::day_and_clock(locale, next),
            ));
        }
        lines.join("\n")
    }

    fn fields(&self) -> &UpdateFields {
        self.analysis.update.fields(self.audience)
    }

    fn status(&self) -> &'static str {
        say::status_outside(
            self.view.locale,
            self.view.status,
            self.view.confirmed_cause.is_some(),
        )
    }

    fn over(&self) -> bool {
        !self.view.status.is_open()
    }

    fn line(&self, label: &str, value: &str) -> String {
        say::pair(self.view.locale, label, value)
    }

    fn field(&self, text: &str) -> String {
        value(text, self.audience, self.view, self.room)
    }

    fn maybe(&self, label: &str, text: &str) -> Option<String> {
        let text = self.field(text);
        (!text.is_empty()).then(|| self.line(label, &text))
    }

    fn or_unknown(&self, text: String) -> String {
        if text.is_empty() {
            say::not_known_yet(self.view.locale).to_owned()
        } else {
            text
        }
    }

    /// What people said of the impact, as this audience may read it.
    fn people(&self, pick: impl Fn(&Impact) -> &String) -> String {
        let running = &self.view.running;
        let impact = match self.audience {
            Audience::Internal => &running.impact,
            Audience::Executive => &running.impact_outside.0,
            Audience::StatusPage => &running.impact_outside.1,
        };
        self.field(pick(impact))
    }

    /// A person's word for the impact comes before the model's.
    fn impact(&self) -> String {
        let (how_many, what) = (
            self.people(|impact| &impact.how_many),
            self.people(|impact| &impact.what),
        );
        let who = self.people(|impact| &impact.who);
        let mut said = match (how_many.is_empty(), what.is_empty()) {
            (false, false) => say::how_many_what(self.view.locale, &how_many, &what),
            (false, true) => how_many,
            (true, false) => what,
            (true, true) => String::new(),
        };
        // The status page has a sentence of its own for them.
        if self.audience != Audience::StatusPage && !who.is_empty() {
            said = if said.is_empty() {
                who
            } else {
                format!("{said}{}", say::aside(self.view.locale, &who))
            };
        }
        if said.is_empty() && self.people(|impact| &impact.who).is_empty() {
            return self.field(&self.fields().impact);
        }
        said
    }

    fn since(&self) -> String {
        let locale = self.view.locale;
        match self.view.started_at.or(self.view.running.times.started) {
            Some(at) => say::day_and_clock(locale, at),
            None => self.field(&self.fields().since),
        }
    }

    /// Who does what and which fix is being tried, for the team; what the model says is being done;
    /// else that it is being looked into.
    fn doing(&self) -> String {
        let locale = self.view.locale;
        let mut parts = Vec::new();
        if self.audience == Audience::Internal {
            let running = &self.view.running;
            for owner in running.owners.iter().take(3) {
                let step = self.analysis.next_steps.get(owner.step);
                if let Some(step) = step.filter(|step| !step.needs_approver()) {
                    let step = value(&step.step, self.audience, self.view, self.room.min(120));
                    if !step.is_empty() {
                        parts.push(say::pair(locale, &word(&owner.by.name), &step));
                    }
                }
            }
            for attempt in running.trying().take(2) {
                let fix = value(&attempt.fix, self.audience, self.view, self.room.min(120));
                if !fix.is_empty() {
                    parts.push(say::tries_fix(locale, &word(&attempt.by), &fix));
                }
            }
        }
        let said = self.field(&self.fields().doing);
        if !said.is_empty() {
            parts.push(said);
        }
        if parts.is_empty() {
            say::doing_so_far(locale, self.view.status).to_owned()
        } else {
            parts.join("; ")
        }
    }

    fn data_line(&self) -> Option<String> {
        let locale = self.view.locale;
        let data = self.people(|impact| &impact.data);
        if !data.is_empty() {
            return Some(self.line(say::data_label(locale), &data));
        }
        self.over()
            .then(|| self.line(say::data_label(locale), say::not_known(locale)))
    }

    /// The number of this update, and the one that went out before it. Where nothing changed since
    /// the last one, it is that one.
    fn before(&self) -> (usize, Option<&SaidBefore>) {
        let all: Vec<&SaidBefore> = self
            .view
            .running
            .said
            .iter()
            .filter(|said| said.audience == self.audience)
            .collect();
        let same = !self.view.running.is_due(self.view.now)
            && all
                .last()
                .is_some_and(|last| last.stand == stand(self.analysis, self.audience, self.view));
        let before = if same {
            all.len().checked_sub(2)
        } else {
            all.len().checked_sub(1)
        };
        let number = if same { all.len() } else { all.len() + 1 };
        (number, before.and_then(|at| all.get(at).copied()))
    }

    /// What changed since the update before; without one, what the model says of it.
    fn changed_line(&self, before: Option<&SaidBefore>) -> Option<String> {
        let locale = self.view.locale;
        match before {
            Some(before) => {
                let label = say::changed_since(locale, &say::clock(locale, before.at));
                Some(self.line(&label, &self.changes(before)))
            }
            None => self.maybe(say::changed_label(locale), &self.fields().changed_since),
        }
    }

    /// What changed since an update, found by comparing what each rests on.
    fn changes(&self, before: &SaidBefore) -> String {
        let (locale, view) = (self.view.locale, self.view);
        let now = stand(self.analysis, self.audience, view);
        let was = &before.stand;
        let mut parts = Vec::new();
        let outside = |stand: &Stand| {
            say::status_outside(locale, stand.status, stand.cause_confirmed).to_owned()
        };
        if outside(was) != outside(&now) {
            parts.push(format!("{} → {}", outside(was), outside(&now)));
        }
        if self.audience != Audience::StatusPage
            && was.severity != now.severity
            && let (Some(was), Some(now)) = (was.severity, now.severity)
        {
            parts.push(format!("{was} → {now}"));
        }
        if was.impact != now.impact {
            let was = cut(&word(&was.impact), self.room.min(120));
            parts.push(say::impact_was(locale, &was));
        }
        if was.known != now.known && self.audience == Audience::Internal {
            parts.push(say::more_is_known(locale).to_owned());
        }
        if self.audience == Audience::Internal {
            if was.lead != now.lead
                && let Some(lead) = &now.lead
            {
                parts.push(say::lead_now(locale, &cut(&word(lead), 60)));
            }
            for (fix, outcome) in now.fixes.iter().filter(|fix| !was.fixes.contains(fix)) {
                let fix = value(fix, self.audience, view, self.room.min(100));
                if !fix.is_empty() {
                    let state = say::aside(locale, say::tried_as(locale, *outcome));
                    parts.push(format!("{fix}{state}"));
                }
            }
        }
        let said = self.field(&self.fields().changed_since);
        if !said.is_empty() {
            parts.push(said);
        }
        if parts.is_empty() {
            say::nothing_new(locale).to_owned()
        } else {
            parts.join("; ")
        }
    }
}

/// What it is about; nothing of it goes to the status page.
fn first_line(audience: Audience, view: &View, room: usize) -> Option<String> {
    if audience == Audience::StatusPage {
        return None;
    }
    let mut parts: Vec<String> = view.incident.map(|id| id.to_string()).into_iter().collect();
    parts.push(view.severity.to_string());
    parts.extend(
        view.service
            .as_deref()
            .map(|service| cut(&word(service), room.min(60))),
    );
    // An update is copied whole: a title that is a destructive command is not in it (R18).
    if audience == Audience::Internal {
        parts.push(value(&view.title, audience, view, room.min(120)));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join(" · "))
}

/// When the next update is due; none once it is over.
fn next_update(analysis: &Analysis, view: &View) -> Option<Timestamp> {
    if matches!(
        view.status,
        Status::Resolved | Status::Closed | Status::FalseAlarm | Status::Merged
    ) {
        return None;
    }
    // A person's word for a time that is over was for an update before.
    view.next_update_at.filter(|at| *at > view.now).or_else(|| {
        // The server's own cadence for the severity that counts now; what was checked with the
        // analysis was of another time.
        let minutes = view.running.cadence.unwrap_or({
            match analysis.update.next_minutes {
                0 => view.severity.update_minutes(),
                minutes => minutes,
            }
        });
        view.now
            .checked_add(SignedDuration::from_mins(i64::from(minutes)))
            .ok()
    })
}

fn value(text: &str, audience: Audience, view: &View, room: usize) -> String {
    let text = word(text);
    // As it is read: what was let through behind a back tick may be a command without it (R18).
    if is_destructive_text(&text)
        || (audience == Audience::StatusPage && tells_too_much(&text, view))
    {
        return String::new();
    }
    cut(&text, room)
}

fn tells_too_much(text: &str, view: &View) -> bool {
    let folded = fold(text);
    let names = |name: &str| !name.trim().is_empty() && folded.contains(&fold(name));
    folded.contains('%')
        || folded.contains("inc-")
        || ["sev1", "sev2", "sev3", "sev4"]
            .iter()
            .any(|word| folded.contains(word))
        || view.service.as_deref().is_some_and(names)
        || view.incident.is_some_and(|id| names(&id.to_string()))
}

/// Plain, one line, no backtick: it stands in a code block.
fn word(text: &str) -> String {
    plain(text).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::super::checks::{analysis, assert_legal, sample, view};
    use super::*;
    use crate::incident::{Locale, Severity};

    #[test]
    fn r19_three_audiences_in_two_languages() {
        let mut texts = Vec::new();
        for locale in [Locale::En, Locale::Zh] {
            for audience in Audience::ALL {
                texts.push(update_text(&analysis(sample()), audience, &view(locale)));
            }
        }
        insta::assert_snapshot!(texts.join("\n\n"), @r#"
        INC-0107 · SEV2 · payments-api · intermittent 503s
        Investigating · 26 May 2026, 03:00 UTC
        Impact: Some checkouts fail with 503
        Since: 02:51 UTC
        Known: the upstream gateway answers 429
        Not confirmed: whether the retry policy causes it
        Doing: comparing the gateway's 429 rate with our retries
        Needed: someone from the gateway team
        Lead: nobody yet
        Next update: 26 May 2026, 04:00 UTC or on change

        Investigating: Some payments fail and have to be tried again.
        Since 02:51 UTC.
        We are working on it and will post again by 26 May 2026, 04:00 UTC.

        INC-0107 · SEV2 · payments-api
        Investigating · 26 May 2026, 03:00 UTC
        Customers: Some checkouts fail
        Since: 02:51 UTC
        Data: not known yet; loss is not ruled out
        Root cause: not confirmed
        Plan: the payments team is on it
        Restoration time: not known
        Needed from you: nothing now
        Public notice: not posted
        Next update: 26 May 2026, 04:00 UTC

        INC-0107 · SEV2 · payments-api · intermittent 503s
        调查中 · 2026年5月26日 03:00 UTC
        影响：Some checkouts fail with 503
        开始时间：02:51 UTC
        已知：the upstream gateway answers 429
        未确认：whether the retry policy causes it
        正在进行：comparing the gateway's 429 rate with our retries
        需要：someone from the gateway team
        负责人：尚无
        下次更新：2026年5月26日 04:00 UTC，如有变化会提前

        调查中：Some payments fail and have to be tried again。
        开始时间：02:51 UTC。
        我们正在处理，并将于 2026年5月26日 04:00 UTC 前再次更新。

        INC-0107 · SEV2 · payments-api
        调查中 · 2026年5月26日 03:00 UTC
        客户影响：Some checkouts fail
        开始时间：02:51 UTC
        数据：尚不清楚，未排除丢失
        根因：未确认
        计划：the payments team is on it
        预计恢复时间：未知
        需要您做的：暂无
        对外公告：未发布
        下次更新：2026年5月26日 04:00 UTC
        "#);
    }

    #[test]
    fn r19_the_status_page_tells_no_more_than_it_may() {
        let mut shown = sample();
        for (leak, field) in [
            "payments-api fails",
            "INC-0107 is open",
            "a SEV2",
            "30 % of payments fail",
            "Payments-API fails",
        ]
        .into_iter()
        .zip([0, 1, 2, 3, 4].iter().cycle())
        {
            let fields = &mut shown.update.status_page;
            match field {
                0 => fields.impact = leak.into(),
                1 => fields.known = leak.into(),
                2 => fields.doing = leak.into(),
                3 => fields.changed_since = leak.into(),
                _ => fields.since = leak.into(),
            }
        }
        let text = update_text(&analysis(shown), Audience::StatusPage, &view(Locale::En));
        for word in ["payments-api", "Payments-API", "INC-", "SEV", "%"] {
            assert!(!text.contains(word), "{text}");
        }
        assert!(text.contains("What is affected is not known yet"), "{text}");
    }

    #[test]
    fn r19_status_words_are_earned() {
        for (status, confirmed, word, next) in [
            (Status::Investigating, false, "Investigating", true),
            (Status::Fixing, false, "Investigating", true),
            (Status::Fixing, true, "Identified", true),
            (Status::Mitigated, true, "Monitoring", true),
            (Status::Resolved, true, "Resolved", false),
        ] {
            let mut view = view(Locale::En);
            view.status = status;
            view.confirmed_cause = confirmed.then(|| "the retry policy".to_owned());
            let text = update_text(&analysis(sample()), Audience::StatusPage, &view);
            assert!(text.starts_with(word), "{text}");
            assert_eq!(text.contains("post again by"), next, "{text}");
        }
    }

    #[test]
    fn posted_unasked_for_sev1_and_sev2_only() {
        let mut view = view(Locale::En);
        let post = update_post(&analysis(sample()), &view).expect("SEV2");
        assert_legal(&post);
        let content = post.payload["content"].as_str().unwrap_or_default();
        assert!(content.starts_with("```\n") && content.ends_with("\n```"));
        view.severity = Severity::Sev3;
        assert_eq!(update_post(&analysis(sample()), &view), None);
        view.update_shown = true;
        assert!(update_post(&analysis(sample()), &view).is_some());
    }

    #[test]
    fn possible_exposure_drafts_nothing_public() {
        let mut shown = sample();
        shown.update.nothing_public = true;
        let text = update_text(&analysis(shown), Audience::StatusPage, &view(Locale::En));
        assert!(text.starts_with("Possible data exposure"), "{text}");
        assert!(!text.contains("payments fail"), "{text}");
    }
}
