//! The playground's page, as a newcomer uses it: a real browser, the real bot, the stand-in.
//!
//! Needs Chromium (`CHROMIUM` names it, else the path is searched). Without one the tests are
//! skipped and say so; where `CI` is set they fail. `PRECEDENT_PICTURES` names a folder for pictures
//! to look at.

mod browser;
#[path = "../../../examples/playground/once.rs"]
mod once;
#[path = "../../../examples/playground/server.rs"]
mod server;
#[path = "../../../examples/playground/stage.rs"]
mod stage;

use browser::Browser;
use precedent::app::App;
use serde_json::json;
use server::Server;
use stage::{EXAMPLES, Stage};
use std::time::Duration;

const REPORT: &str = EXAMPLES[0].report;

/// A stage with the bot on it, its page, and a browser that shows it.
struct Play {
    stage: Stage,
    app: App,
    browser: Browser,
}

impl Play {
    /// Starts everything; `None` where there is no browser.
    async fn begins(width: u32, height: u32) -> Option<Self> {
        let Some(chromium) = browser::chromium() else {
            assert!(
                std::env::var_os("CI").is_none(),
                "Chromium is not installed, and CI wants the page tested"
            );
            eprintln!("skipped: Chromium is not installed");
            return None;
        };
        let stage = Stage::set().await.expect("the stage is set");
        let config = stage
            .config(|_| None)
            .expect("nothing is configured, so nothing is wrong");
        let app = stage.bot(&config).await.expect("the bot starts");
        // The machine may be busy; how soon the bot answers is measured elsewhere.
        stage.discord.set_patience(Duration::from_secs(60));
        stage.discord.set_response_limit(Duration::from_secs(60));
        let server = Server::bind(&stage, "No model is configured.".to_owned(), 0)
            .await
            .expect("a free port");
        let address = format!("http://{}", server.address);
        tokio::spawn(server.serve());
        let mut browser = Browser::start(&chromium).await;
        browser.size(width, height).await;
        browser.open(&address).await;
        browser
            .until("document.querySelectorAll('.example').length === 3")
            .await;
        Some(Self {
            stage,
            app,
            browser,
        })
    }

    /// Nothing is wider than the window.
    async fn nothing_sticks_out(&mut self) {
        let wide = self
            .browser
            .value("[document.documentElement, ...document.querySelectorAll('.scroll, .log, .composer, .embed')].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className || e.tagName).join()")
            .await;
        assert_eq!(wide, "", "wider than the window");
    }

    async fn ends(self) {
        self.browser.ends().await;
        let jobs = self.app.jobs().await.expect("jobs can be counted");
        assert_eq!(jobs.dead, 0, "a job was given up");
        self.app.stop(Duration::from_secs(10)).await;
        assert_eq!(self.stage.discord.violations(), Vec::<String>::new());
    }
}

/// The whole conversation: report, thread, tick, fix, update, question.
async fn conversation(width: u32, height: u32, picture: &str) {
    let Some(mut play) = Play::begins(width, height).await else {
        return;
    };
    let page = &mut play.browser;
    page.picture(&format!("{picture}-1-first-screen")).await;

    page.press_named("#main .composer", "Message #incidents")
        .await;
    page.types("/ana").await;
    page.until("document.querySelector('#main .suggestions b')?.textContent === '/analyze'")
        .await;
    page.picture(&format!("{picture}-2-completion")).await;
    page.enter().await;
    page.until("document.activeElement.name === 'report'").await;
    page.types(REPORT).await;
    page.picture(&format!("{picture}-3-command")).await;
    page.enter().await;
    page.shows("#main .log", "payments-api").await;
    page.shows("#main .log", "Seen 3x here").await;

    page.press("document.querySelector('#main .thread-card')")
        .await;
    page.shows("#thread .log", "FROM MEMORY").await;
    page.shows("#thread .log", "Next steps").await;
    page.picture(&format!("{picture}-4-thread")).await;

    page.press_named("#thread", "Tick or untick steps").await;
    page.press("document.querySelector('#popover [role=option]')")
        .await;
    page.picture(&format!("{picture}-5-ticking")).await;
    page.press_named("#popover", "Done").await;
    page.shows("#thread .log", "✅").await;
    page.shows("#thread .log", "done: alice").await;

    page.press_named("#thread", "1 Trying this fix").await;
    page.press_named("#thread", "1 Worked").await;
    page.until(
        "named('1 Worked', document.querySelector('#thread')).classList.contains('success')",
    )
    .await;

    page.press_named("#thread", "Stakeholder update").await;
    page.shows("#thread .log .code-block", "INC-0034").await;
    page.press_named("#thread", "Status page").await;
    page.until("named('Status page', document.querySelector('#thread')).disabled && !text('#thread .code-block').includes('INC-')").await;

    page.press_named("#thread .composer", "Message payments-api")
        .await;
    page.types("What fixed it last time?").await;
    page.enter().await;
    page.until("[...document.querySelectorAll('#thread .message')].some((m) => m.querySelector('.above')?.textContent.includes('What fixed it') && m.innerText.includes('INC-0019'))").await;
    page.picture(&format!("{picture}-6-answered")).await;
    play.nothing_sticks_out().await;

    play.browser
        .press_named("#thread", "Close the thread")
        .await;
    play.browser
        .until("document.querySelector('#thread').hidden")
        .await;
    play.browser.picture(&format!("{picture}-7-channel")).await;
    play.nothing_sticks_out().await;
    play.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_on_a_wide_screen() {
    conversation(1440, 900, "wide").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_on_a_phone() {
    conversation(390, 844, "phone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_completions_message_commands_and_another_language() {
    let Some(mut play) = Play::begins(1440, 900).await else {
        return;
    };
    let page = &mut play.browser;

    // Without a report the form opens; what the bot knows completes the service.
    page.press_named("#main .composer", "Message #incidents")
        .await;
    page.types("/analyze ").await;
    page.press_named("#main .command", "service").await;
    page.types("pay").await;
    page.until("document.querySelector('#main .suggestions b')?.textContent === 'payments-api'")
        .await;
    page.enter().await;
    page.until("document.activeElement.value === 'payments-api'")
        .await;
    page.enter().await;
    page.until("document.querySelector('dialog').open").await;
    page.press_named("dialog", "Submit").await;
    page.until("document.querySelector('dialog :invalid') !== null")
        .await;
    page.press("document.querySelector('dialog textarea')")
        .await;
    page.types("PoolTimeout: no connection available after 30000 ms, every request waits")
        .await;
    page.picture("form").await;
    page.press_named("dialog", "Submit").await;
    page.until("!document.querySelector('dialog').open").await;
    page.shows("#main .log", "alice used /analyze").await;
    page.shows("#main .log", "payments-api").await;

    // An alert becomes an incident by its menu; its text stands in an embed.
    page.press_named("#sidebar", "# alerts").await;
    page.press("document.querySelector('#main .message .more')")
        .await;
    page.press_named("#popover", "Analyze as incident").await;
    page.shows("#main .log", "alice used Analyze as incident")
        .await;
    page.until("text('#main .log').includes('order-service') && document.querySelector('#main .thread-card')").await;
    page.press("document.querySelector('#main .thread-card')")
        .await;
    page.shows("#thread .log", "Do not repeat").await;
    page.picture("alert").await;

    // A log goes along as a file, in a reply that names the bot.
    page.press("[...document.querySelectorAll('#thread .message .more')].at(-1)")
        .await;
    page.press_named("#popover", "↪ Reply").await;
    page.until(
        "await (async () => {
            const files = new DataTransfer();
            files.items.add(new File(['exit code 137'], 'consumer.log'));
            const input = document.querySelector('#thread .line input[type=file]');
            input.files = files.files;
            input.dispatchEvent(new Event('change'));
            return true;
        })()",
    )
    .await;
    page.shows("#thread .tray", "consumer.log").await;
    page.press_named("#thread .composer", "Message order-service")
        .await;
    page.types("@pre").await;
    page.until("document.querySelector('#thread .suggestions b')?.textContent === '@precedent'")
        .await;
    page.enter().await;
    page.types("is this the same as before?").await;
    page.enter().await;
    page.shows("#thread .log", "consumer.log").await;
    page.until("[...document.querySelectorAll('#thread .message')].some((m) => m.querySelector('.above')?.textContent.includes('is this the same') && m.innerText.includes('precedent'))").await;

    // What one person opens, nobody else sees.
    page.press_named("#thread", "Why?").await;
    page.shows("#thread .log", "Only you can see this").await;
    let marc = play.stage.people.get(1).map(|person| person.id.to_string());
    let become_marc = format!(
        "(() => {{ const s = document.querySelector('#as'); s.value = {}; s.dispatchEvent(new Event('change')); return true; }})()",
        json!(marc)
    );
    page.until(&become_marc).await;
    page.until("!text('#thread .log').includes('Only you can see this')")
        .await;

    // The example in Chinese is reported by somebody who reads Chinese, and answered so.
    page.press_named("#sidebar", "# incidents").await;
    page.press("document.querySelectorAll('.example')[2]").await;
    page.shows("#main .log", "库存服务").await;
    page.press("[...document.querySelectorAll('#main .thread-card')].at(-1)")
        .await;
    page.shows("#thread .log", "INC-0029").await;
    page.until("named('1 试用', document.querySelector('#thread')) ?? /下一步|后续步骤/.test(text('#thread .log'))").await;
    page.picture("chinese").await;
    play.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_is_text() {
    let Some(mut play) = Play::begins(1000, 800).await else {
        return;
    };
    let hostile = "<img src=x onerror=\"document.title='taken'\"> <script>document.title='taken'</script> [click](javascript:document.title='taken') **<b>bold</b>** `<i>`";
    play.stage.discord.webhook_post(play.stage.incidents, "<u>hook</u>", hostile, &[json!({"title": hostile, "description": hostile, "fields": [{"name": hostile, "value": hostile}]})]);
    let page = &mut play.browser;
    page.shows("#main .log", "[click](javascript:").await;
    page.shows("#main .log", "<u>hook</u>").await;
    let made = page.value("document.querySelectorAll('.log img, .log script, .log a, .log b, .log i, .log u').length").await;
    assert_eq!(made, 0, "elements were made of text");
    assert_ne!(page.value("document.title").await, "taken");

    let cases = [
        ("plain", "plain"),
        (
            "**bold** and *it* and _it_",
            "<strong>bold</strong> and <em>it</em> and <em>it</em>",
        ),
        (r"\*not\* \`code\` \<t:1:R>", "*not* `code` &lt;t:1:R&gt;"),
        ("**open `**` end", "**open <code>**</code> end"),
        ("snake_case_name", "snake_case_name"),
        ("``a`b``", "<code>a`b</code>"),
        (
            "a <@1> <#2> </analyze:3>",
            r#"a <span class="mention">@unknown-user</span> <span class="mention">#no-access</span> <span class="mention">/analyze</span>"#,
        ),
        ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
        (
            "||x||",
            r#"<span class="spoiler" role="button" tabindex="0" aria-label="Spoiler">x</span>"#,
        ),
        ("<t:99999999999999999:R>", "&lt;t:99999999999999999:R&gt;"),
        ("", ""),
    ];
    for (markdown, expected) in cases {
        let drawn = page
            .value(&format!(
                "await (async () => {{
                    const {{ markdown, el }} = await import('/markdown.js');
                    const names = {{ locale: 'en-US', user() {{}}, channel() {{}}, role() {{}} }};
                    const box = el('div', {{}}, markdown({}, names));
                    return [...box.querySelectorAll('.paragraph')].map((p) => p.innerHTML).join('');
                }})()",
                json!(markdown)
            ))
            .await;
        assert_eq!(drawn, expected, "{markdown}");
    }
    let long = page
        .value("await (async () => { const { markdown } = await import('/markdown.js'); const began = performance.now(); for (const mark of ['*', '_', '**', '`', '||', '> ', '<t:', '```', '\\\\']) markdown(mark.repeat(4096 / mark.length), { locale: 'en-US' }); return performance.now() - began; })()")
        .await;
    assert!(
        long.as_f64()
            .is_some_and(|milliseconds| milliseconds < 20_000.0),
        "marks without end: {long} ms"
    );
    play.ends().await;
}

#[tokio::test]
async fn only_this_machines_page_may_act() {
    let stage = Stage::set().await.expect("the stage is set");
    let server = Server::bind(&stage, String::new(), 0)
        .await
        .expect("a free port");
    let address = server.address;
    tokio::spawn(server.serve());
    let client = reqwest::Client::new();
    let state = format!(
        "http://{address}/state?as={}",
        stage.people.first().expect("somebody").id
    );
    let bot = format!("http://{address}/state?as={}", stage.discord.bot());
    let own = format!("http://{address}");
    let cases = [
        (state.as_str(), Some(("host", "precedent.example")), 403),
        (&state, Some(("origin", "http://precedent.example")), 403),
        (&state, Some(("origin", "null")), 403),
        (&bot, None, 403),
        (&state, Some(("origin", own.as_str())), 200),
        (&state, None, 200),
    ];
    for (url, header, expected) in cases {
        let mut request = client.get(url);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let status = request.send().await.expect("an answer").status().as_u16();
        assert_eq!(status, expected, "{url} {header:?}");
    }
    let act = json!({"as": stage.people.first().map(|person| person.id.to_string()), "do": "say", "channel": stage.incidents.to_string(), "text": "hello"});
    let url = format!("http://{address}/act");
    for (kind, expected) in [("text/plain", 415), ("application/json", 200)] {
        let sent = client
            .post(&url)
            .header("content-type", kind)
            .body(act.to_string())
            .send()
            .await
            .expect("an answer");
        assert_eq!(sent.status().as_u16(), expected, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_without_a_browser() {
    let stage = Stage::set().await.expect("the stage is set");
    let config = stage.config(|_| None).expect("nothing is wrong");
    let app = stage.bot(&config).await.expect("the bot starts");
    stage.discord.set_patience(Duration::from_secs(60));
    assert!(
        once::analyze(&stage, &app, "  ").await.is_err(),
        "an empty report is no success"
    );
    let text = once::analyze(&stage, &app, REPORT)
        .await
        .expect("an analysis");
    for part in [
        "payments-api",
        "INC-0031",
        "days ago",
        "FROM MEMORY",
        "[1 Trying this fix]",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    for mark in ["**", "<t:", "\\"] {
        assert!(!text.contains(mark), "{mark} is left:\n{text}");
    }
    app.stop(Duration::from_secs(10)).await;
}
