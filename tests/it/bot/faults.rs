//! What Discord and people do to a bot in the middle of an incident: threads closed and deleted,
//! permissions taken, connections lost, requests refused or lost. Everything is posted once, where
//! it can be, and what could not be done is said.

use super::{Given, Incident, REFUND_REPORT, analysis_answer, refund_job, triage_reply, tuning};
use precedent::app::App;
use precedent::discord::{Api, Rest};
use secrecy::SecretString;
use serde_json::json;
use standin::gateway::IdentifyAnswer;
use standin::llm::{ChatModel, Hold, Reply, Task};
use standin::{ChannelId, Discord, Failure, Interaction, MessageId, Post, permissions as may};
use std::time::Duration;

/// The bot's finished posts in a channel or thread, read.
pub fn own(incident: &Incident, channel: ChannelId) -> Vec<Post> {
    let mut posts = incident.discord.posts(channel);
    posts.retain(|post| {
        let text = post.to_text();
        post.by_bot && !post.is_loading() && !text.is_empty() && text != "(thread starter)"
    });
    posts
}

/// The cards in a thread, once all is posted.
pub async fn cards(incident: &Incident, thread: ChannelId) -> Post {
    incident.idle().await;
    let posts = own(incident, thread);
    one("cards", &posts, "Cause confirmed").clone()
}

/// The answer to a message.
pub async fn reply_to(incident: &Incident, thread: ChannelId, message: MessageId) -> Post {
    incident
        .discord
        .await_message(thread, |post| post.reply_to == Some(message))
        .await
}

/// The one post that shows these words.
fn one<'p>(what: &str, posts: &'p [Post], words: &str) -> &'p Post {
    let found: Vec<&Post> = posts.iter().filter(|post| post.shows(words)).collect();
    let story: Vec<String> = posts.iter().map(Post::to_text).collect();
    assert_eq!(found.len(), 1, "one {what} with {words:?} in: {story:#?}");
    found[0]
}

fn none(posts: &[Post], words: &str) {
    let story: Vec<String> = posts.iter().map(Post::to_text).collect();
    assert!(
        !story.iter().any(|text| text.contains(words)),
        "{words:?} in: {story:#?}"
    );
}

/// Cards, checklist, and the update or the button to it: each once.
fn complete(posts: &[Post]) {
    one("cards", posts, "Cause confirmed");
    one("checklist", posts, "Next steps");
}

async fn rules() -> Incident {
    Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        ..Given::default()
    })
    .await
}

/// A bot whose model holds its first answer; the thread shows progress by then.
async fn thinking() -> (Incident, Interaction, ChannelId, Hold) {
    let model = ChatModel::start().await;
    let (reply, hold) = triage_reply().held();
    model.on(Task::Triage, reply);
    model.on_fn(Task::Triage, |_| triage_reply());
    model.on_fn(Task::Analysis, |_| Reply::json(&analysis_answer()));
    let incident = Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    hold.arrived().await;
    let thread = incident.thread(&report).await;
    (incident, report, thread, hold)
}

// ---- the thread under the bot ---------------------------------------------------

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_archived_before_the_cards_is_opened_again() {
    let (incident, _, thread, hold) = thinking().await;
    incident.discord.archive(thread);
    hold.release();
    incident.idle().await;
    complete(&own(&incident, thread));
    assert_eq!(
        own(&incident, incident.channel).len(),
        1,
        "the headline alone"
    );
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_locked_before_the_cards_sends_them_to_the_channel_once() {
    let (incident, _, thread, hold) = thinking().await;
    incident.discord.lock(thread);
    incident.discord.archive(thread);
    hold.release();
    incident.idle().await;
    let _progress = own(&incident, thread);
    let posts = own(&incident, incident.channel);
    complete(&posts);
    one("notice", &posts, "archived or locked");
    // A click there is shown there.
    let cards = one("cards", &posts, "Cause confirmed").id;
    let click = incident
        .discord
        .click(incident.alice, cards, "1 Cause confirmed");
    let _acknowledged = click.response().await;
    incident
        .discord
        .await_edit(cards, |post| post.shows("confirmed by"))
        .await;
    incident.idle().await;
    let _read = own(&incident, incident.channel);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_deleted_before_the_cards_sends_them_to_the_channel_once() {
    let (incident, _, thread, hold) = thinking().await;
    let _progress = own(&incident, thread);
    incident.discord.delete_channel(thread);
    hold.release();
    incident.idle().await;
    let posts = own(&incident, incident.channel);
    complete(&posts);
    one("notice", &posts, "thread was deleted");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_deleted_before_the_cards_ends_the_work_and_nothing_else() {
    let (incident, report, thread, hold) = thinking().await;
    let _progress = own(&incident, thread);
    incident.discord.delete_channel(incident.channel);
    hold.release();
    incident.idle().await;
    report.forget();
    // The bot works on elsewhere.
    let other = incident.discord.channel(incident.guild, "elsewhere");
    let again = incident.discord.slash(
        incident.alice,
        other,
        "analyze",
        json!({"report": REFUND_REPORT}),
    );
    let thread = incident.thread(&again).await;
    incident.idle().await;
    complete(&own(&incident, thread));
    incident.ends_with_given_up(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_that_somebody_deleted_are_not_posted_again() {
    let incident = rules().await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let cards = cards(&incident, thread).await;
    let click = incident
        .discord
        .click(incident.alice, &cards, "1 Cause confirmed");
    incident.discord.delete_message(cards.id);
    let _acknowledged = click.try_response().await;
    incident.idle().await;
    none(&own(&incident, thread), "Cause confirmed");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_that_somebody_deleted_is_not_posted_again_over_their_head() {
    let (incident, _, thread, hold) = thinking().await;
    let progress = own(&incident, thread);
    incident.discord.delete_message(progress[0].id);
    hold.release();
    incident.idle().await;
    let posts = own(&incident, thread);
    none(&posts, "Cause confirmed");
    one("checklist", &posts, "Next steps");
    incident.ends().await;
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Closed {
    Archived,
    Locked,
    Deleted,
}

fn close(incident: &Incident, thread: ChannelId, how: Closed) {
    match how {
        Closed::Archived => incident.discord.archive(thread),
        Closed::Locked => {
            incident.discord.lock(thread);
            incident.discord.archive(thread);
        }
        Closed::Deleted => incident.discord.delete_channel(thread),
    }
}

/// The thread is closed while the model thinks about a question in it.
async fn closed_before_the_answer(how: Closed) -> (Incident, ChannelId, Vec<Post>, Vec<Post>) {
    let model = ChatModel::start().await;
    model.on_fn(Task::Triage, |_| triage_reply());
    model.on_fn(Task::Analysis, |_| Reply::json(&analysis_answer()));
    let (reply, hold) = Reply::json(&json!({
        "answer": "Stop the refund job.",
        "memory_refs": ["INC-0041"],
        "evidence": [],
        "next_steps": [],
    }))
    .held();
    model.on(Task::FollowUp, reply);
    let incident = Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        model: Some(model),
        ..Given::default()
    })
    .await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    let _read = own(&incident, thread);
    incident
        .discord
        .say(incident.alice, thread, "what fixed it last time?");
    hold.arrived().await;
    close(&incident, thread, how);
    hold.release();
    incident.idle().await;
    let (inside, outside) = (own(&incident, thread), own(&incident, incident.channel));
    (incident, thread, inside, outside)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_archived_before_an_answer_is_opened_again() {
    let (incident, _, inside, outside) = closed_before_the_answer(Closed::Archived).await;
    one("answer", &inside, "Stop the refund job.");
    none(&outside, "Stop the refund job.");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_locked_before_an_answer_has_it_in_the_channel() {
    let (incident, _, inside, outside) = closed_before_the_answer(Closed::Locked).await;
    none(&inside, "Stop the refund job.");
    one("answer", &outside, "Stop the refund job.");
    one("notice", &outside, "archived or locked");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_deleted_before_an_answer_has_it_in_the_channel() {
    let (incident, _, _, outside) = closed_before_the_answer(Closed::Deleted).await;
    one("answer", &outside, "Stop the refund job.");
    one("notice", &outside, "thread was deleted");
    incident.ends().await;
}

/// The thread is closed between a click and what it changes.
async fn closed_before_the_refresh(how: Closed) -> (Incident, Vec<Post>) {
    let incident = rules().await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    let cards = cards(&incident, thread).await;
    let click = incident
        .discord
        .click(incident.alice, &cards, "1 Trying this fix");
    close(&incident, thread, how);
    let _acknowledged = click.try_response().await;
    incident.idle().await;
    let posts = if how == Closed::Deleted {
        Vec::new()
    } else {
        own(&incident, thread)
    };
    let _read = own(&incident, incident.channel);
    // Recorded, wherever it could be shown.
    let show = incident
        .discord
        .slash(incident.alice, incident.channel, "incident list", json!({}));
    let listed = show.ephemeral().await;
    assert!(listed.shows("INC-0042"), "{listed}");
    (incident, posts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_in_a_thread_that_is_archived_meanwhile_is_shown() {
    let (incident, posts) = closed_before_the_refresh(Closed::Archived).await;
    one("cards", &posts, "alice is trying this fix");
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_in_a_thread_that_is_locked_meanwhile_is_recorded() {
    let (incident, _) = closed_before_the_refresh(Closed::Locked).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_in_a_thread_that_is_deleted_meanwhile_is_recorded() {
    let (incident, _) = closed_before_the_refresh(Closed::Deleted).await;
    incident.ends().await;
}

// ---- permissions ---------------------------------------------------------------

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_start_threads_the_answer_stands_in_the_channel() {
    let incident = rules().await;
    let bot = incident.discord.bot();
    incident
        .discord
        .deny(incident.channel, bot, may::CREATE_PUBLIC_THREADS);
    let report = incident.analyze(REFUND_REPORT).await;
    let _headline = incident.headline(&report).await;
    incident.idle().await;
    let posts = own(&incident, incident.channel);
    complete(&posts);
    one("notice", &posts, "Create Public Threads");
    // A click works there as well.
    let cards = one("cards", &posts, "Cause confirmed").id;
    let click = incident
        .discord
        .click(incident.alice, cards, "1 Cause confirmed");
    let _acknowledged = click.response().await;
    incident
        .discord
        .await_edit(cards, |post| post.shows("confirmed by"))
        .await;
    incident.idle().await;
    let _read = own(&incident, incident.channel);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_write_in_threads_the_answer_stands_in_the_channel() {
    let incident = rules().await;
    let bot = incident.discord.bot();
    incident
        .discord
        .deny(incident.channel, bot, may::SEND_MESSAGES_IN_THREADS);
    let report = incident.analyze(REFUND_REPORT).await;
    let _headline = incident.headline(&report).await;
    incident.idle().await;
    let posts = own(&incident, incident.channel);
    complete(&posts);
    one("notice", &posts, "Send Messages in Threads");
    incident.ends().await;
}

/// A permission without which nothing can be shown is named to that person alone.
async fn refused_without(permission: u64, name: &str) {
    let incident = rules().await;
    incident
        .discord
        .deny(incident.channel, incident.discord.bot(), permission);
    let report = incident.analyze(REFUND_REPORT).await;
    let told = report.ephemeral().await;
    assert!(told.shows(name), "{told}");
    incident.idle().await;
    assert!(own(&incident, incident.channel).is_empty());
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_see_the_channel_that_is_named() {
    refused_without(may::VIEW_CHANNEL, "View Channel").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_write_that_is_named() {
    refused_without(may::SEND_MESSAGES, "Send Messages").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_embed_that_is_named() {
    refused_without(may::EMBED_LINKS, "Embed Links").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_taken_while_the_model_thinks_is_named_where_that_is_possible() {
    let (incident, _, thread, hold) = thinking().await;
    incident.discord.deny(
        incident.channel,
        incident.discord.bot(),
        may::SEND_MESSAGES_IN_THREADS,
    );
    hold.release();
    incident.idle().await;
    let _read = own(&incident, thread);
    let posts = own(&incident, incident.channel);
    one("notice", &posts, "Send Messages in Threads");
    one("checklist", &posts, "Next steps");
    incident.ends().await;
}

// ---- the message-content intent --------------------------------------------------

async fn works_without_content(incident: &Incident) {
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    complete(&own(incident, thread));
    // Of this nothing can be read, and nothing breaks.
    incident
        .discord
        .say(incident.alice, thread, "what fixed it last time?");
    let question = format!(
        "{} what fixed it last time?",
        incident.discord.bot_mention()
    );
    let asked = incident
        .discord
        .say(incident.alice, thread, question.as_str());
    let answer = reply_to(incident, thread, asked).await;
    assert!(answer.shows("INC-0041"), "{answer}");
    let asked = incident.discord.slash(
        incident.alice,
        thread,
        "followup",
        json!({"question": "what fixed it last time?"}),
    );
    assert!(asked.original().await.shows("INC-0041"));
    incident.idle().await;
    let replies = own(incident, thread);
    let answers = replies
        .iter()
        .filter(|post| post.reply_to.is_some())
        .count();
    assert_eq!(answers, 1, "{replies:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_intent_commands_and_mentions_work() {
    let incident = Incident::begins(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        without_message_content: true,
        ..Given::default()
    })
    .await;
    works_without_content(&incident).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_the_intent_the_bot_goes_on_without_it() {
    let mut incident = Incident::prepared(Given {
        memory: &[refund_job(41, "2026-09-23", "held")],
        ..Given::default()
    })
    .await;
    incident.discord.set_message_content(false);
    incident.starts_bot(tuning(None)).await;
    works_without_content(&incident).await;
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_says_that_the_intent_is_off_and_that_it_is_on() {
    let incident = Incident::prepared(Given::default()).await;
    for (on, expected, fine) in [
        (
            false,
            "FAIL intents: message content is asked for and not switched on",
            false,
        ),
        (true, "ok   intents: message content is on", true),
    ] {
        incident.discord.set_message_content(on);
        let mut lines = Vec::new();
        let all = precedent::app::check(&incident.config, &mut |fine, text| {
            let mark = if fine { "ok  " } else { "FAIL" };
            lines.push(format!("{mark} {text}"));
        })
        .await;
        assert_eq!(all, fine, "{lines:#?}");
        assert!(
            lines.iter().any(|line| line.starts_with(expected)),
            "{lines:#?}"
        );
    }
    incident.ends().await;
}

// ---- the gateway --------------------------------------------------------------------

/// What is written while the bot hears nothing is noted and answered once, however it came back.
async fn hears_what_it_missed(breaks: impl Fn(&Discord)) {
    let incident = rules().await;
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    incident.idle().await;
    let _read = own(&incident, thread);
    let gateway = incident.discord.gateway();
    gateway.set_losing_events(true);
    gateway.set_refusing(true);
    breaks(&incident.discord);
    gateway.disconnected().await;
    let note = incident
        .discord
        .say(incident.alice, thread, "the pool is at 30 %");
    let asked = incident
        .discord
        .say(incident.alice, thread, "what fixed it last time?");
    gateway.set_refusing(false);
    let answer = reply_to(&incident, thread, asked).await;
    assert!(answer.shows("INC-0041"), "{answer}");
    // And once more, with nothing lost this time.
    gateway.set_losing_events(false);
    incident.drop_and_resume(10).await;
    let list = incident
        .discord
        .slash(incident.alice, incident.channel, "incident list", json!({}));
    let _listed = list.ephemeral().await;
    incident.idle().await;
    let noted = incident.discord.message(note).expect("the note");
    assert_eq!(noted.reactions.get("📎"), Some(&1), "{noted}");
    let posts = own(&incident, thread);
    let answers = posts
        .iter()
        .filter(|post| post.reply_to == Some(asked))
        .count();
    assert_eq!(answers, 1, "{posts:#?}");
    complete(&posts);
    incident.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_breaks_during_an_incident() {
    hears_what_it_missed(|discord| discord.gateway().drop_connection()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn discord_asks_to_reconnect_during_an_incident() {
    hears_what_it_missed(|discord| discord.gateway().ask_to_reconnect()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_becomes_invalid_during_an_incident() {
    hears_what_it_missed(|discord| {
        discord.gateway().forget_sessions();
        discord.gateway().drop_connection();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_closes_with_a_code_that_allows_to_resume() {
    hears_what_it_missed(|discord| discord.gateway().close(4000)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_closes_with_a_session_that_timed_out() {
    hears_what_it_missed(|discord| discord.gateway().close(4009)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_closes_without_a_code() {
    hears_what_it_missed(|discord| discord.gateway().close_without_code()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identify_that_is_refused_once_is_tried_again() {
    let mut incident = Incident::prepared(Given::default()).await;
    incident
        .discord
        .gateway()
        .answer_identify(IdentifyAnswer::InvalidSession);
    incident.starts_bot(tuning(None)).await;
    let list = incident
        .discord
        .slash(incident.alice, incident.channel, "incident list", json!({}));
    let _listed = list.ephemeral().await;
    incident.ends().await;
}

// ---- REST -------------------------------------------------------------------------------

/// A failure of one request in the middle of an analysis: everything is posted once nevertheless.
async fn posted_once_despite(method: &str, pattern: &str, failure: Failure, times: u64) {
    let story = format!("{method} {pattern}: {failure:?}");
    let incident = rules().await;
    incident.discord.fail_times(method, pattern, failure, times);
    let report = incident.analyze(REFUND_REPORT).await;
    let thread = incident.thread(&report).await;
    settled(&incident).await;
    let posts = own(&incident, thread);
    assert_eq!(posts.len(), 2, "{story}: {posts:#?}");
    complete(&posts);
    assert_eq!(
        own(&incident, incident.channel).len(),
        1,
        "{story}: one headline"
    );
    assert_eq!(
        incident.discord.threads(incident.channel).len(),
        1,
        "{story}"
    );
    incident.discord.forgive("40060");
    incident.ends().await;
}

/// Waits until nothing is to be worked now, retries included.
pub(super) async fn settled(incident: &Incident) {
    let app = incident.app.as_ref().expect("the bot runs");
    let waiting = async {
        loop {
            let counts = app.jobs().await.expect("jobs can be counted");
            if counts.is_idle() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting)
        .await
        .expect("the jobs end");
}

const CALLBACK: (&str, &str) = ("POST", "/interactions/*/*/callback");
const ORIGINAL: (&str, &str) = ("PATCH", "/webhooks/*/*/messages/@original");
const THREAD: (&str, &str) = ("POST", "/channels/*/messages/*/threads");
const MESSAGE: (&str, &str) = ("POST", "/channels/*/messages");

macro_rules! despite {
    ($($name:ident: $route:expr, $times:literal, $failure:expr;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let (method, pattern) = $route;
                posted_once_despite(method, pattern, $failure, $times).await;
            }
        )*
    };
}

despite! {
    the_acknowledgement_meets_an_error: CALLBACK, 1, Failure::error(500, 0, "oops");
    the_acknowledgement_is_lost: CALLBACK, 1, Failure::Drop;
    the_acknowledgement_is_done_and_its_answer_lost: CALLBACK, 1, Failure::DropAfterwards;
    the_headline_is_rate_limited: ORIGINAL, 1, Failure::rate_limited(Duration::from_secs(1));
    the_headline_is_refused_without_a_time: ORIGINAL, 1, Failure::banned_by_cloudflare();
    the_headline_meets_an_error: ORIGINAL, 2, Failure::error(500, 0, "oops");
    the_headline_is_lost: ORIGINAL, 1, Failure::Drop;
    the_headline_is_posted_and_its_answer_lost: ORIGINAL, 2, Failure::DropAfterwards;
    the_thread_is_rate_limited: THREAD, 1, Failure::rate_limited(Duration::from_secs(1));
    the_thread_is_refused_without_a_time: THREAD, 1, Failure::banned_by_cloudflare();
    the_thread_meets_an_error: THREAD, 2, Failure::error(500, 0, "oops");
    the_thread_is_lost: THREAD, 1, Failure::Drop;
    the_thread_is_started_and_its_answer_lost: THREAD, 1, Failure::DropAfterwards;
    the_cards_are_rate_limited: MESSAGE, 1, Failure::rate_limited(Duration::from_secs(1));
    the_cards_are_rate_limited_for_all: MESSAGE, 1, Failure::globally_rate_limited(Duration::from_secs(1));
    the_cards_are_refused_without_a_time: MESSAGE, 1, Failure::banned_by_cloudflare();
    the_cards_meet_errors: MESSAGE, 3, Failure::error(503, 0, "oops");
    the_cards_are_lost: MESSAGE, 2, Failure::Drop;
    the_cards_are_posted_and_the_answer_lost: MESSAGE, 1, Failure::DropAfterwards;
    every_post_is_made_and_the_answer_lost: MESSAGE, 2, Failure::DropAfterwards;
}

/// Discord's own address, over TLS: nothing in the bot knows that it is not.
fn over_tls(discord: &Discord) -> Rest {
    let address = discord.tls_address().expect("started with TLS");
    let der = discord
        .certificate_der()
        .expect("started with TLS")
        .to_vec();
    let api = Api::new(SecretString::from(discord.token()), None)
        .expect("no address")
        .prepared(move |builder| {
            let certificate = reqwest::Certificate::from_der(&der).expect("a certificate");
            builder
                .resolve("discord.com", address)
                .resolve("cdn.discordapp.com", address)
                .tls_certs_only([certificate])
        });
    Rest::new(api).expect("TLS")
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls_a_rate_limit_is_waited_out_and_everything_posted_once() {
    let mut incident = Incident::prepared_at(
        Discord::start_tls().await,
        Given {
            memory: &[refund_job(41, "2026-09-23", "held")],
            ..Given::default()
        },
    )
    .await;
    if let Some(discord) = &mut incident.config.discord {
        discord.api_url = None;
    }
    let rest = over_tls(&incident.discord);
    let app = App::start_with(&incident.config, tuning(None), rest)
        .await
        .expect("the bot starts");
    incident.app = Some(app);
    incident.discord.gateway().connected().await;
    let wait = Duration::from_secs(1);
    incident
        .discord
        .fail_next(MESSAGE.0, MESSAGE.1, Failure::rate_limited(wait));
    let report = incident.analyze(REFUND_REPORT).await;
    let begun = std::time::Instant::now();
    let thread = incident.thread(&report).await;
    incident.idle().await;
    assert!(begun.elapsed() >= wait);
    let posts = own(&incident, thread);
    assert_eq!(posts.len(), 2, "{posts:#?}");
    complete(&posts);
    // The rate limit was waited for, not run into again.
    let asked = incident.discord.requests_to(MESSAGE.0, MESSAGE.1);
    assert_eq!(asked.len(), 3, "cards refused, cards, checklist");
    incident.ends().await;
}
